"""The caller's side of a call: the line that the client gets, the person on the phone, and what was really heard."""

from simrt.caller.caller import Caller, Utterance
from simrt.caller.clip import Clip, ClipError, fixture_clip, load_clip
from simrt.caller.clock import Clock
from simrt.caller.cue import Cue, CueError, ReplyKey, Say, parse_cue
from simrt.caller.ear import Ear, HeardReply, Sound
from simrt.caller.line import Line, Microphone, Note, Speaker, Written
from simrt.caller.render import stereo, write_wav

__all__ = [
    "Caller",
    "Clip",
    "ClipError",
    "Clock",
    "Cue",
    "CueError",
    "Ear",
    "HeardReply",
    "Line",
    "Microphone",
    "Note",
    "ReplyKey",
    "Say",
    "Sound",
    "Speaker",
    "Utterance",
    "Written",
    "fixture_clip",
    "load_clip",
    "parse_cue",
    "stereo",
    "write_wav",
]
