"""The stand-in service: authored calls served in real time on a loopback socket, and recorded through the proxy.

For when there is no key and no network: what comes out is a cassette like any other, labelled "stand-in".
"""

import asyncio
from collections import Counter
from pathlib import Path

from simrt.call import HEADERS, Client, Conversation, finish
from simrt.caller import Clock, Ear, Line
from simrt.caller.cue import ReplyKey
from simrt.cassette.header import Header, Word
from simrt.cassette.script import Script
from simrt.cassette.store import Cassette, load, save
from simrt.cues import says_of
from simrt.record import Proxy
from simrt.replay.build import build_score
from simrt.replay.live import LiveSession
from simrt.replay.realtime import RealtimeSession
from simrt.replay.score import ScoredReply, ScoredTurn
from simrt.replay.server import serve
from simrt.result import CallResult
from simrt.scripts import profile_of
from simrt.stage import Stage
from simrt.trace import Trace


async def record_stand_in(
    script: Script, client: Client, out: Path, *, overwrite: bool = False
) -> tuple[Path, CallResult]:
    """Serve `script` in real time, let `client` call it through the recording proxy, and return cassette and result.

    Takes as long as the call. The cassette's header gets the places of all words, since they are known here.
    """
    profile = profile_of(script)
    score = build_score(Cassette(Header(profile=profile, how="authored"), Trace(), script))
    clock = Clock(asyncio.get_running_loop())
    line = Line.on(clock, "", HEADERS)
    ear = Ear(line.speaker)
    stage = Stage(score, (), 0, clock, ear)
    server = await serve(stage.accept)
    port = server.sockets[0].getsockname()[1]
    upstream = f"ws://127.0.0.1:{port}"
    try:
        async with Proxy(upstream, out, how="stand-in", profile=profile, overwrite=overwrite) as proxy:
            if script.dialect == "live":
                line.url = proxy.environment["OPENAI_BASE_URL"].replace("http", "ws", 1) + "/live/sessions"
            else:
                line.url = proxy.environment["DIALOG_REALTIME_URL"] + "?model=simrt-stand-in"
            talk = Conversation(client, line, ear, score, (), [say for _, say in says_of(score)], cap_ms=60_000)
            await talk.run()
        path = proxy.recordings[0]
    finally:
        server.close()
    result = finish(talk, stage)
    _place_words(path, stage)
    return path, result


def _place_words(path: Path, stage: Stage) -> None:
    """Write the words' times into the cassette's header, in ms of each side's audio."""
    session = stage.peers[0].session
    if isinstance(session, LiveSession):
        heard, sent = _live_turns(session), _live_replies(session)
    else:
        assert isinstance(session, RealtimeSession)
        heard, sent = session.heard_at(), session.sent_audio()
    caller = [
        Word(word.text, word.start_ms + offset_us // 1000, word.end_ms + offset_us // 1000)
        for turn, offset_us in heard
        for word in turn.words
        if word.start_ms + offset_us // 1000 >= 0  # what was lost before the first append is not on the cassette
    ]
    agent: list[Word] = []
    start_ms = 0.0
    silent = isinstance(session, LiveSession) and not session.rules.kugel  # the agent's audio has silence in between
    for reply, sent_us in sent:
        if isinstance(session, LiveSession) and silent:
            start_ms = session.track.started[reply.index] / 1000
        agent.extend(
            Word(word.text, round(start_ms + word.start_ms), round(start_ms + word.end_ms))
            for word in reply.words or []
            if word.end_ms * 1000 <= sent_us
        )
        start_ms += sent_us / 1000
    cassette = load(path)
    cassette.header.words = {"caller": caller, "agent": agent}
    save(cassette, path, overwrite=True)


def _live_turns(session: LiveSession) -> list[tuple[ScoredTurn, int]]:
    """The turns that were heard, and where in the caller's audio each begins, in µs."""
    return [(turn, match.offset_us) for turn in session.score.turns if (match := session.turns.matches.get(turn.index))]


def _live_replies(session: LiveSession) -> list[tuple[ScoredReply, int]]:
    """The replies in the order of being spoken, and how many µs of each left the server."""
    sent: Counter[ReplyKey] = Counter()
    for frame in session.score.frames:
        if frame.reply is not None and frame.index in session.sent:
            sent[frame.reply] += frame.audio_us
    spoken = {reply.index: reply for reply in session.score.replies}
    return [(spoken[key], sent[key]) for key in session.track.started if key in spoken]
