"""The recording proxy."""

from simrt.record.proxy import Proxy
from simrt.record.recorder import Status
from simrt.record.target import Target, parse_target

__all__ = ["Proxy", "Status", "Target", "parse_target"]
