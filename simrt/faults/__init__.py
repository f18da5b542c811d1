"""Faults: what can go wrong on the server's side, in the network, and with the caller."""

from simrt.faults.barge_in import BargeIn
from simrt.faults.base import Fault
from simrt.faults.burst import Burst
from simrt.faults.clog import Clog
from simrt.faults.close import Close
from simrt.faults.delay import Delay
from simrt.faults.drop import Drop
from simrt.faults.duplicate import Duplicate
from simrt.faults.error_event import ErrorEvent
from simrt.faults.late_ready import LateReady
from simrt.faults.latency import Latency
from simrt.faults.plan import FAULTS, check_plan, format_fault, parse_fault, parse_plan
from simrt.faults.refuse import Refuse
from simrt.faults.reset import Reset
from simrt.faults.spread import Spread
from simrt.faults.stall import Stall

__all__ = [
    "FAULTS",
    "BargeIn",
    "Burst",
    "Clog",
    "Close",
    "Delay",
    "Drop",
    "Duplicate",
    "ErrorEvent",
    "Fault",
    "LateReady",
    "Latency",
    "Refuse",
    "Reset",
    "Spread",
    "Stall",
    "check_plan",
    "format_fault",
    "parse_fault",
    "parse_plan",
]
