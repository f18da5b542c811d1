"""`simrt_record`: cassettes recorded from tests, in real time and through the proxy, if the mode says so."""

import asyncio
import binascii
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from simrt.audio import PCM24
from simrt.call import Client, Conversation
from simrt.caller import Caller, Clock, Ear, Line, Say
from simrt.cassette.header import Word
from simrt.cassette.store import Cassette, load, save
from simrt.cues import says_of
from simrt.dialect import Formats, dialect
from simrt.dialect.realtime import AUDIO_DELTAS
from simrt.errors import SimrtError
from simrt.pytest_plugin.cassettes import find, home, missing
from simrt.pytest_plugin.settings import mode_of, settings_of
from simrt.record import Proxy, parse_target
from simrt.record.target import profile_of
from simrt.replay.build import score_of
from simrt.replay.listener import Listener, Utterance
from simrt.replay.score import Score
from simrt.trace import Opening, Sender, parse_event

CAP_MS = 60_000
"""How long a client may stay on the line after the caller's last cue."""

_DONE = pytest.StashKey[set[Path]]()


class Recorder:
    """The callable that the fixture `simrt_record` gives."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item

    def __call__(
        self,
        name: str | Path,
        upstream: str | None = None,
        client: Client | None = None,
        *,
        says: Sequence[Say] | None = None,
        headers: dict[str, str] | None = None,
        profile: str | None = None,
    ) -> Path:
        """The cassette of that name, for `simrt_call`.

        Mode none: it is there, or CassetteError says how to record it. once: recorded when it is missing. rewrite:
        recorded anew, once in a run of pytest. Recording calls `upstream` in real time: the client gets a Line whose
        `url` leads through the recording proxy, and OPENAI_BASE_URL and DIALOG_REALTIME_URL do too. `says` is what the
        caller says and when (replies numbered from 0; default: what it says on the cassette that is there). `headers`
        go into `line.headers`. What is not given is taken from the marker.

        Raises SimrtError when nothing usable was recorded; a cassette that was there before is left as it was.
        """
        __tracebackhide__ = True
        item = self._item
        settings = settings_of(item)
        upstream = settings.get("upstream") if upstream is None else upstream
        says = settings.get("says") if says is None else says
        headers = settings.get("headers") if headers is None else headers
        profile = settings.get("profile") if profile is None else profile
        mode, out = mode_of(item.config), home(item, name)
        done = item.config.stash.setdefault(_DONE, set())
        there = find(item, name)
        if there is not None and (mode != "rewrite" or upstream is None or out in done):
            return there
        if mode == "none" or upstream is None:
            raise missing(item, name, upstream)
        if client is None:
            raise SimrtError("simrt_record needs a client to record with: simrt_record(name, upstream, client)")
        if hasattr(item.config, "workerinput"):
            raise SimrtError(f"{out} is to be recorded, which takes real time and one test at a time: add -n 0")
        if says is None:
            if there is None:
                raise SimrtError(f"{out} is to be recorded, but nothing tells what the caller says: give says=[Say(…)]")
            says = [say for _, say in says_of(score_of(there))]
        asyncio.run(_record(client, upstream, out, says, headers or {}, profile or profile_of(upstream)))
        done.add(out)
        return out


async def _record(
    client: Client, upstream: str, out: Path, says: Sequence[Say], headers: dict[str, str], profile: str
) -> None:
    for say in says:
        if isinstance(say.cue.reply, int) and say.cue.reply < 0:
            raise SimrtError(f"cue {say.cue}: on a live call nobody knows which reply is the last; number them from 0")
    fresh = out.with_name(f".{out.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    clock = Clock(asyncio.get_running_loop())
    line = Line.on(clock, "", headers)
    tap = Tap(Ear(line.speaker), clock)
    talk = Conversation(client, line, tap.ear, Score("realtime", profile, Opening(), [], {}), (), [], CAP_MS)
    talk.caller = Caller(says, line, tap.ear, replies=1_000_000)
    proxy = Proxy(upstream, fresh, profile=profile, on_frame=tap.heard)
    try:
        async with proxy:
            model = parse_target(upstream).parameter("model")
            line.url = proxy.environment["DIALOG_REALTIME_URL"] + ("" if model else "?model=gpt-realtime")
            with _environment(proxy.environment):
                await talk.run()
        why = _why_not(talk, proxy)
        if why is not None:
            raise SimrtError(f"nothing was recorded from {parse_target(upstream).place}: {why}") from talk.error
        cassette = load(proxy.recordings[0])
        _place_words(cassette, talk)
        save(cassette, out, overwrite=True)
    finally:
        for path in proxy.recordings:
            shutil.rmtree(path, ignore_errors=True)


def _why_not(talk: Conversation, proxy: Proxy) -> str | None:
    """What makes a recording of no use, if anything."""
    if talk.error is not None:
        because = f" ({proxy.failures[0]})" if proxy.failures else ""
        return f"the client raised {type(talk.error).__name__}: {talk.error}{because}"
    if proxy.failures:
        return str(proxy.failures[0])
    if talk.capped:
        return f"the client was still on the line {CAP_MS // 1000} s after the caller's last cue"
    if len(proxy.recordings) != 1:
        times = len(proxy.recordings)
        return f"the client connected to {talk.line.url} {times} times, and a cassette holds one connection"
    unsaid = ", ".join(f"{say.clip.name} ({say.cue})" for say in talk.caller.unsaid)
    return f"the caller never got to say {unsaid}" if unsaid else None


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            patch.setenv(name, value)
        yield


class Tap:
    """Tells the caller's ear what the service sends, so that cues about replies work on a live call."""

    def __init__(self, ear: Ear, clock: Clock) -> None:
        self.ear = ear
        self._clock = clock
        self._formats = Formats()
        self._replies: dict[str, int] = {}

    def heard(self, sender: Sender, payload: str | bytes) -> None:
        """One frame that passed the proxy."""
        event = parse_event(payload) if sender == "server" else None
        if event is None:
            return
        dialect("realtime").update_formats(self._formats, sender, event)
        kind, now_us = event.get("type"), self._clock.now_us()
        if kind in AUDIO_DELTAS:
            reply = self._replies.setdefault(str(event.get("response_id")), len(self._replies))
            fmt = self._formats.output
            self.ear.sent(reply, fmt.decode(_decoded(event.get("delta"))), now_us, fmt.rate)
        elif kind == "response.done":
            response = event.get("response")
            response = response if isinstance(response, dict) else {}
            known = self._replies.get(str(response.get("id")))
            if known is not None:
                self.ear.ended(known, now_us, response.get("status") == "cancelled")


def _place_words(cassette: Cassette, talk: Conversation) -> None:
    """Write into the header where in the caller's recorded audio the words are, as far as their clips tell."""
    clips = {number: said.clip for number, said in enumerate(talk.caller.utterances) if said.clip.words}
    listener = Listener([Utterance(number, clip.samples, clip.words) for number, clip in clips.items()])
    speaks, formats = dialect(cassette.header.dialect), Formats(PCM24, PCM24)
    words: list[Word] = []
    for frame in cassette.trace.frames:
        event = frame.event()
        if event is None:
            continue
        speaks.update_formats(formats, frame.sender, event)
        if frame.sender != "client" or speaks.audio_key("client", event) is None:
            continue
        for match in listener.feed(_decoded(event.get("audio")), formats.input, frame.t_us):
            for word in match.utterance.words:
                start_ms, end_ms = (ms + match.offset_us // 1000 for ms in (word.start_ms, word.end_ms))
                if end_ms > 0:
                    words.append(Word(word.text, max(0, start_ms), end_ms))
    if words:
        cassette.header.words = {**cassette.header.words, "caller": sorted(words, key=lambda word: word.start_ms)}


def _decoded(value: object) -> bytes:
    try:
        return binascii.a2b_base64(value) if isinstance(value, str) else b""
    except ValueError:
        return b""
