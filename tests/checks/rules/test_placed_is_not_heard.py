import asyncio
import base64
import json
from typing import Any

from websockets.asyncio.client import connect

from simrt import Line

from .calling import findings
from .live import in_parcel


class Answers:
    """Answers the first delegation, and hangs up when that is placed, or `wait_s` later."""

    wait_s = 0.0

    def __init__(self, line: Line) -> None:
        self.line = line

    async def run(self) -> None:
        async with connect(self.line.url, additional_headers=self.line.headers, max_size=None) as socket:
            session = {"model": "fluid-1", "delegation": {"type": "client"}}
            await socket.send(json.dumps({"type": "session.start", "session": session}))
            pump = asyncio.create_task(self.pump(socket))
            async for message in socket:
                event = json.loads(message)
                if event["type"] == "session.output_audio.delta":
                    self.line.speaker.play(base64.b64decode(event["delta"]))
                elif event["type"] == "session.delegation.created":
                    await self.answer(socket, event["delegation"]["id"])
                elif event["type"] == "session.commentary.appended":
                    self.leave = asyncio.create_task(self.close(socket))
                elif event["type"] == "session.closed":
                    break
            pump.cancel()
            await asyncio.gather(pump, return_exceptions=True)
        await self.line.hang_up()

    async def answer(self, socket: Any, name: str) -> None:
        told = {"content": "Order 4711 shipped yesterday.", "delegation_id": name}
        await socket.send(json.dumps({"type": "session.commentary.append", **told}))

    async def close(self, socket: Any) -> None:
        await asyncio.sleep(self.wait_s)
        await socket.send(json.dumps({"type": "session.close"}))

    async def pump(self, socket: Any) -> None:
        async for frame in self.line.microphone:
            audio = base64.b64encode(frame).decode()
            await socket.send(json.dumps({"type": "session.input_audio.append", "audio": audio}))


class Waits(Answers):
    wait_s = 6.0


def test_a_client_that_hangs_up_when_it_is_placed() -> None:
    (found,) = findings("LIV602", Answers, "parcel-status")
    assert "ended the call 0 ms after 'Order 4711 shipped" in found.message


def test_a_client_that_waits_until_it_is_heard() -> None:
    assert findings("LIV602", Waits, "parcel-status") == []
    assert in_parcel("LIV602", "Parcel", "interrupted-result") == []
