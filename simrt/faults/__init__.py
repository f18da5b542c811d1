"""Faults: what can go wrong on the server's side, in the network, and with the caller."""

from simrt.faults.ack_reorder import AckReorder
from simrt.faults.arguments import Arguments
from simrt.faults.backchannel import Backchannel
from simrt.faults.background import Background
from simrt.faults.bandwidth import Bandwidth
from simrt.faults.barge_in import BargeIn
from simrt.faults.base import Fault
from simrt.faults.burst import Burst
from simrt.faults.clog import Clog
from simrt.faults.close import Close
from simrt.faults.collide import Collide
from simrt.faults.cough import Cough
from simrt.faults.delay import Delay
from simrt.faults.drop import Drop
from simrt.faults.duplicate import Duplicate
from simrt.faults.error_event import ErrorEvent
from simrt.faults.expire import Expire
from simrt.faults.extra_turn import ExtraTurn
from simrt.faults.fail import Fail
from simrt.faults.freeze import Freeze
from simrt.faults.hang import Hang
from simrt.faults.hang_up import HangUp
from simrt.faults.ignore import Ignore
from simrt.faults.incomplete_call import IncompleteCall
from simrt.faults.late_ack import LateAck
from simrt.faults.late_audio import LateAudio
from simrt.faults.late_commentary import LateCommentary
from simrt.faults.late_commit import LateCommit
from simrt.faults.late_delegation import LateDelegation
from simrt.faults.late_pickup import LatePickup
from simrt.faults.late_ready import LateReady
from simrt.faults.late_transcript import LateTranscript
from simrt.faults.latency import Latency
from simrt.faults.lost_ack import LostAck
from simrt.faults.mutate import Mutate
from simrt.faults.mute import Mute
from simrt.faults.no_pong import NoPong
from simrt.faults.oversize import Oversize
from simrt.faults.plan import FAULTS, check_plan, format_fault, parse_fault, parse_plan
from simrt.faults.rechunk import Rechunk
from simrt.faults.refuse import Refuse
from simrt.faults.reject import Reject
from simrt.faults.reorder import Reorder
from simrt.faults.repeat_call import RepeatCall
from simrt.faults.reset import Reset
from simrt.faults.second_delegation import SecondDelegation
from simrt.faults.second_item import SecondItem
from simrt.faults.session_closed import SessionClosed
from simrt.faults.speaks_on import SpeaksOn
from simrt.faults.spread import Spread
from simrt.faults.stall import Stall
from simrt.faults.stray_delegation import StrayDelegation
from simrt.faults.unspoken import Unspoken
from simrt.faults.wrong_format import WrongFormat

__all__ = [
    "FAULTS",
    "AckReorder",
    "Arguments",
    "Backchannel",
    "Background",
    "Bandwidth",
    "BargeIn",
    "Burst",
    "Clog",
    "Close",
    "Collide",
    "Cough",
    "Delay",
    "Drop",
    "Duplicate",
    "ErrorEvent",
    "Expire",
    "ExtraTurn",
    "Fail",
    "Fault",
    "Freeze",
    "Hang",
    "HangUp",
    "Ignore",
    "IncompleteCall",
    "LateAck",
    "LateAudio",
    "LateCommentary",
    "LateCommit",
    "LateDelegation",
    "LatePickup",
    "LateReady",
    "LateTranscript",
    "Latency",
    "LostAck",
    "Mutate",
    "Mute",
    "NoPong",
    "Oversize",
    "Rechunk",
    "Refuse",
    "Reject",
    "Reorder",
    "RepeatCall",
    "Reset",
    "SecondDelegation",
    "SecondItem",
    "SessionClosed",
    "SpeaksOn",
    "Spread",
    "Stall",
    "StrayDelegation",
    "Unspoken",
    "WrongFormat",
    "check_plan",
    "format_fault",
    "parse_fault",
    "parse_plan",
]
