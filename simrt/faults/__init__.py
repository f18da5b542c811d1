"""Faults: what can go wrong on the server's side, in the network, and with the caller."""

from simrt.faults.arguments import Arguments
from simrt.faults.backchannel import Backchannel
from simrt.faults.background import Background
from simrt.faults.barge_in import BargeIn
from simrt.faults.base import Fault
from simrt.faults.burst import Burst
from simrt.faults.clog import Clog
from simrt.faults.close import Close
from simrt.faults.cough import Cough
from simrt.faults.delay import Delay
from simrt.faults.drop import Drop
from simrt.faults.duplicate import Duplicate
from simrt.faults.error_event import ErrorEvent
from simrt.faults.extra_turn import ExtraTurn
from simrt.faults.fail import Fail
from simrt.faults.hang import Hang
from simrt.faults.hang_up import HangUp
from simrt.faults.incomplete_call import IncompleteCall
from simrt.faults.late_pickup import LatePickup
from simrt.faults.late_ready import LateReady
from simrt.faults.latency import Latency
from simrt.faults.mute import Mute
from simrt.faults.plan import FAULTS, check_plan, format_fault, parse_fault, parse_plan
from simrt.faults.refuse import Refuse
from simrt.faults.repeat_call import RepeatCall
from simrt.faults.reset import Reset
from simrt.faults.speaks_on import SpeaksOn
from simrt.faults.spread import Spread
from simrt.faults.stall import Stall

__all__ = [
    "FAULTS",
    "Arguments",
    "Backchannel",
    "Background",
    "BargeIn",
    "Burst",
    "Clog",
    "Close",
    "Cough",
    "Delay",
    "Drop",
    "Duplicate",
    "ErrorEvent",
    "ExtraTurn",
    "Fail",
    "Fault",
    "Hang",
    "HangUp",
    "IncompleteCall",
    "LatePickup",
    "LateReady",
    "Latency",
    "Mute",
    "Refuse",
    "RepeatCall",
    "Reset",
    "SpeaksOn",
    "Spread",
    "Stall",
    "check_plan",
    "format_fault",
    "parse_fault",
    "parse_plan",
]
