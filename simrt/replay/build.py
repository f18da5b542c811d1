"""From a cassette to a score, and from a score to a session: the one place that knows which dialect needs what."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from simrt import shipped
from simrt.cassette.store import Cassette, load_cached
from simrt.errors import CassetteError
from simrt.faults.base import Fault
from simrt.replay.authored import author
from simrt.replay.authored_live import author_live
from simrt.replay.live import LiveSession
from simrt.replay.realtime import RealtimeSession
from simrt.replay.score import Score
from simrt.replay.score_generic import score_generic
from simrt.replay.score_live import LiveScorer
from simrt.replay.score_realtime import RealtimeScorer
from simrt.replay.session import GenericSession, Observer, Session
from simrt.replay.vad import VadName

_SESSIONS: dict[str, type[Session]] = {"realtime": RealtimeSession, "live": LiveSession}


def build_score(cassette: Cassette, vad: VadName = "energy") -> Score:
    """The score of a cassette. `vad` finds the voice in authored turns."""
    header = cassette.header
    if cassette.script is not None:
        write = author_live if cassette.script.dialect == "live" else author
        return write(cassette.script, header.profile, vad)
    if header.dialect == "realtime":
        return RealtimeScorer(cassette.trace, header).score()
    if header.dialect == "live":
        return LiveScorer(cassette.trace, header).score()
    return score_generic(cassette.trace, header)


@lru_cache(maxsize=32)
def _cached(path: str, digest: str, vad: VadName) -> Score:
    return build_score(load_cached(path), vad)


def score_of(cassette: Cassette | Score | str | Path, vad: VadName = "energy") -> Score:
    """The score of a cassette, or of the one at a path or of a shipped one by name; a score is one already.

    Those from disk are built once per process.
    """
    if isinstance(cassette, Score):
        return cassette
    if isinstance(cassette, Cassette):
        if cassette.path is None:
            return build_score(cassette, vad)
        return _cached(str(cassette.path), cassette.header.digest, vad)
    if not isinstance(cassette, (str, Path)):
        raise CassetteError(f"{cassette!r} is no cassette: give a path, a shipped name, a Cassette or its Score")
    path = Path(cassette)
    if not path.exists() and path.name == str(cassette):
        path = shipped.cassette(str(cassette))
    return _cached(str(path), load_cached(path).header.digest, vad)


def make_session(
    score: Score, faults: Sequence[Fault] = (), seed: int = 0, observer: Observer | None = None
) -> Session:
    """A fresh session that plays a score to one client."""
    return _SESSIONS.get(score.dialect, GenericSession)(score, faults, seed, observer)
