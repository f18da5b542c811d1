"""The client took a connection for dead because a pong was late, while everything else still came over it.

A listener is cut off in the middle: the agent speaks, and the line is dead.

Libraries ping, and close with 1011 when no pong has come for a while (websockets: a ping every 20 s, and 20 s for its
pong). A server under load answers late, and something on the way may swallow control frames. Late pongs prove nothing
while frames arrive: a connection over which something has just come is alive.

To mend: let nothing but silence end a connection: `ping_timeout=None`, and give up when no frame and no pong has come
for a long time. Frames within the last `notice_ms` count as life.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case

_CODE = 1011
_WORDS = ("keepalive", "ping", "pong", "heartbeat")


@rule("END410", "closed-while-alive", "A connection was closed for want of a pong, though frames came", harm="fatal")
def check(case: Case) -> Iterator[Finding]:
    """Each connection that the client closed so soon after a frame of the server's."""
    if not case.timed:
        return
    for connection in case.connections:
        closing, closed_us = connection.trace.closing, connection.closed_us
        if closing is None or closed_us is None or closing.by != "client" or closing.code != _CODE:
            continue
        if not any(word in closing.reason.lower() for word in _WORDS):
            continue
        received = [event for event in connection.events if event.sender == "server" and event.t_us <= closed_us]
        if received and closed_us - received[-1].t_us <= case.limits.notice_ms * 1000:
            ms = (closed_us - received[-1].t_us) / 1000
            yield found(
                closed_us,
                f"closed the connection ({closing.code} {closing.reason}) {ms:.0f} ms after a frame had come over it",
                event=received[-1],
                alive_ms=ms,
            )
