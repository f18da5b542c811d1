"""When each piece of the agent's audio would be heard if the client played all of it as it came. Pure.

Pieces queue up behind one another; what is queued is dropped when the client is told that the caller talks.
"""

from collections.abc import Iterable, Sequence

from simrt.checks.hearing import Stretch
from simrt.checks.responses import Piece, Response


def expected(responses: Iterable[Response], stops_us: Sequence[int]) -> dict[int, Stretch]:
    """From when to when each piece plays, by the piece's `id()`. `stops_us`, sorted: when the queue is dropped; a piece
    that is dropped whole is left out."""
    pieces = sorted(
        (piece for response in responses for item in response.items for piece in item.pieces),
        key=lambda piece: (piece.t_us, piece.event.connection, piece.event.frame),
    )
    played: dict[int, Stretch] = {}
    at, upcoming = 0, list(stops_us)
    for piece in pieces:
        while upcoming and upcoming[0] <= piece.t_us:
            at = min(at, upcoming.pop(0))
        start = max(at, piece.t_us)
        at = start + piece.audio_us
        stop = upcoming[0] if upcoming else at
        if start < min(stop, at):
            played[id(piece)] = (start, min(stop, at))
    return played


def last_of(pieces: Iterable[Piece], played: dict[int, Stretch]) -> int | None:
    """When the last of these pieces is over; None: none of them plays."""
    return max((played[id(piece)][1] for piece in pieces if id(piece) in played), default=None)
