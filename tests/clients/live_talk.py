"""A Live client as one would write it with the official OpenAI SDK, and two ways to let it make a call."""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from typing import Any

import openai

from simrt import CallResult, Line, run_call
from simrt.call import HEADERS, Conversation, finish
from simrt.caller import Clock, Ear
from simrt.cues import says_of
from simrt.replay.score import Score
from simrt.replay.server import serve
from simrt.stage import Stage

Answer = Callable[["Talk", str, str], Awaitable[None]]
"""What is done about a delegation: (talk, its id, what the caller has said so far)."""


class Talk:
    """Sends the microphone, plays what comes, keeps the transcript, answers delegations in tasks of their own."""

    def __init__(self, line: Line, answer: Answer | None = None, **session: Any) -> None:
        self.line, self.answer = line, answer
        self.session = {"model": "fluid-1", "instructions": "You answer for a parcel service.", **session}
        self.said = ""
        self.delegations: list[str] = []
        self.acks: list[str] = []
        self.errors: list[str] = []
        self.seconds: float | None = None
        self.connection: Any = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """From pickup until the caller has hung up and the session is closed."""
        base = self.line.url.removesuffix("/live/sessions").replace("ws:", "http:", 1)
        async with openai.AsyncOpenAI(api_key="sk-none", base_url=base).live.connect() as self.connection:
            await self.connection.session.start(session=self.session)
            async for event in self.connection:
                if not self._take(event):
                    break
        for task in self._tasks:
            task.cancel()

    def do(self, work: Awaitable[None]) -> None:
        """Something that must not keep the audio waiting."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)  # type: ignore[arg-type]

    def _take(self, event: Any) -> bool:
        kind = event.type
        if kind == "session.started":
            self.do(self._listen())
        elif kind == "session.output_audio.delta":
            self.line.speaker.play(base64.b64decode(event.delta))
        elif kind == "kugel.response.cancelled":
            self.line.speaker.clear()
        elif kind == "session.input_transcript.delta":
            self.said += event.delta
        elif kind == "session.delegation.created":
            self.delegations.append(event.delegation.id)
            if self.answer is not None:
                self.do(self.answer(self, event.delegation.id, self.said))
        elif kind.endswith(".appended"):
            self.acks.append(kind.split(".")[1])
        elif kind == "error":
            self.errors.append(event.error.code)
        elif kind == "session.closed":
            self.seconds = event.usage.seconds
        return bool(kind != "session.closed")

    async def _listen(self) -> None:
        async for frame in self.line.microphone:
            await self.connection.session.input_audio.append(audio=base64.b64encode(frame).decode())
        await self.connection.session.close()

    async def tell(self, content: str, delegation_id: str | None, **more: Any) -> None:
        """A commentary. What the SDK's signature does not know goes as an extra field."""
        event = {"type": "session.commentary.append", "content": content, "delegation_id": delegation_id, **more}
        await self.connection.send(event)


def in_the_world(score: Score, make: Callable[[Line], Talk]) -> tuple[Talk, CallResult]:
    """The call in virtual time."""
    talks: list[Talk] = []

    def client(line: Line) -> Awaitable[None]:
        talks.append(make(line))
        return talks[0].run()

    result = run_call(client, score)
    return talks[0], result


async def over_a_socket(score: Score, make: Callable[[Line], Talk]) -> tuple[Talk, CallResult]:
    """The call in real time, over loopback."""
    clock = Clock(asyncio.get_running_loop())
    line = Line.on(clock, "", HEADERS)
    ear = Ear(line.speaker)
    stage = Stage(score, (), 0, clock, ear)
    server = await serve(stage.accept)
    line.url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/live/sessions"
    talk = make(line)
    conversation = Conversation(lambda _: talk.run(), line, ear, score, (), [say for _, say in says_of(score)])
    try:
        await conversation.run()
    finally:
        server.close()
    return talk, finish(conversation, stage)
