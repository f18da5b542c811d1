"""From a cassette to a score, and from a score to a session: the one place that knows which dialect needs what."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from simrt.cassette.store import Cassette, load_cached
from simrt.faults.base import Fault
from simrt.replay.authored import author
from simrt.replay.realtime import RealtimeSession
from simrt.replay.score import Score
from simrt.replay.score_generic import score_generic
from simrt.replay.score_realtime import RealtimeScorer
from simrt.replay.session import GenericSession, Observer, Session
from simrt.replay.vad import VadName


def build_score(cassette: Cassette, vad: VadName = "energy") -> Score:
    """The score of a cassette. `vad` finds the voice in authored turns."""
    header = cassette.header
    if cassette.script is not None:
        return author(cassette.script, header.profile, vad)
    if header.dialect == "realtime":
        return RealtimeScorer(cassette.trace, header).score()
    return score_generic(cassette.trace, header)


@lru_cache(maxsize=32)
def _cached(path: str, digest: str, vad: VadName) -> Score:
    return build_score(load_cached(path), vad)


def score_of(cassette: Cassette | Score | str | Path, vad: VadName = "energy") -> Score:
    """The score of a cassette or of the one at a path; those from disk are built once per process, and a score is one
    already."""
    if isinstance(cassette, Score):
        return cassette
    if isinstance(cassette, Cassette):
        return (
            build_score(cassette, vad)
            if cassette.path is None
            else _cached(str(cassette.path), cassette.header.digest, vad)
        )
    loaded = load_cached(cassette)
    return _cached(str(cassette), loaded.header.digest, vad)


def make_session(
    score: Score, faults: Sequence[Fault] = (), seed: int = 0, observer: Observer | None = None
) -> Session:
    """A fresh session that plays a score to one client."""
    kind = RealtimeSession if score.dialect == "realtime" else GenericSession
    return kind(score, faults, seed, observer)
