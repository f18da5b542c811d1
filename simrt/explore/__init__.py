"""Searching for what breaks a client: calls as jobs, processes that run them, grids and random plans of faults."""

from simrt.explore.executors import Crew, crew
from simrt.explore.job import Job, Outcome, run_job

__all__ = ["Crew", "Job", "Outcome", "crew", "run_job"]
