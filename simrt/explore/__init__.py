"""Searching for what breaks a client: calls as jobs, processes that run them, grids and random plans of faults."""

from simrt.explore.job import Job, Outcome, run_job

__all__ = ["Job", "Outcome", "run_job"]
