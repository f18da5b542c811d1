"""What the proxy leaves behind: names, journals and cassettes of its connections, errors, and the live status."""

import asyncio
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from simrt.cassette.header import Header, How
from simrt.cassette.journal import Journal, journal_folder
from simrt.cassette.redact import Redactor
from simrt.cassette.writer import check_target
from simrt.dialect import dialect_for_url
from simrt.errors import SimrtError
from simrt.trace import Closing, Opening, Sender

log = logging.getLogger("simrt.record")

STATUS_EVERY = 0.1
"""Seconds between two reports of the status while frames flow."""

_PEEK = 64 * 1024  # longest payload in which the status looks for its event type


class Status(msgspec.Struct, frozen=True):
    """The proxy at one moment, for a live line. Bytes are payload bytes; no field holds a secret.

    `connections` are open now, `finished` have become cassettes, `failed` could not be recorded or not be connected.
    `seconds` run since the first connection opened. `last_event` is the type of the latest JSON event.
    """

    connections: int = 0
    finished: int = 0
    failed: int = 0
    client_frames: int = 0
    server_frames: int = 0
    client_bytes: int = 0
    server_bytes: int = 0
    seconds: float = 0.0
    last_event: str = ""
    message: str = ""


class Recorder:
    """Hands out one `Tape` a connection, and keeps count."""

    def __init__(
        self,
        out: Path,
        *,
        redactor: Redactor,
        how: How,
        profile: str,
        overwrite: bool,
        on_event: Callable[[Status], None] | None,
        on_frame: Callable[[Sender, str | bytes], None] | None = None,
    ) -> None:
        self.out = out
        self.redactor = redactor
        self.how: How = how
        self.profile = profile
        self.overwrite = overwrite
        self.recordings: list[Path] = []
        self.failures: list[SimrtError] = []
        self._on_event = on_event
        self._on_frame = on_frame
        self._names: set[Path] = set()
        self._tapes: set[Tape] = set()
        self._finishing: set[asyncio.Task[None]] = set()
        self._frames = {"client": 0, "server": 0}
        self._bytes = {"client": 0, "server": 0}
        self._began: float | None = None
        self._latest: tuple[str | bytes, Redactor] = ("", redactor)
        self._message = ""
        self._report: asyncio.TimerHandle | None = None

    def check_out(self) -> None:
        """SimrtError when the first cassette could not be written where it should be."""
        check_target(self.out, self.overwrite)
        unfinished = journal_folder(self.out)
        if unfinished.exists():
            raise SimrtError(f"an unfinished recording is at {unfinished}; recover it, or remove that folder")
        try:
            self.out.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SimrtError(f"the folder {self.out.parent} cannot be made: {error.strerror}") from None

    def start(self, opening: Opening, redactor: Redactor) -> "Tape":
        """Begin the journal of a connection. SimrtError when that cannot be written."""
        folder = self._next_name()
        header = Header(
            dialect=dialect_for_url(opening.url),
            profile=self.profile,
            how=self.how,
            origin=redactor.text(opening.url),
            created=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            opening=opening,
        )
        try:
            journal = Journal(folder, header, redactor=redactor, overwrite=self.overwrite)
        except Exception as error:
            raise self.failed(f"a recording cannot begin: {_told(folder, error)}", redactor) from None
        self._names.add(folder)
        if self._began is None:
            self._began = time.monotonic()
        tape = Tape(self, journal, folder, redactor)
        self._tapes.add(tape)
        self.changed()
        return tape

    def _next_name(self) -> Path:
        """NAME for the first connection, then NAME-2, NAME-3 …, leaving out what is there already."""
        number = 1
        while True:
            folder = self.out if number == 1 else self.out.with_name(f"{self.out.name}-{number}")
            taken = folder in self._names or journal_folder(folder).exists()
            if not taken and (self.overwrite or not folder.exists()):
                return folder
            number += 1

    def failed(self, text: str, redactor: Redactor) -> SimrtError:
        """Note, log and show a failure; gives the error, its text without the secrets that `redactor` knows."""
        error = SimrtError(redactor.scrub(text))
        self.failures.append(error)
        self._message = str(error)
        log.error("%s", error)
        self.changed()
        return error

    def heard(self, sender: Sender, payload: str | bytes, redactor: Redactor) -> None:
        """Count a frame for the status, and hand it to who listens."""
        self._frames[sender] += 1
        self._bytes[sender] += len(payload)
        self._latest = (payload, redactor)
        if self._on_frame is not None:
            self._on_frame(sender, payload)
        if self._report is None:
            self.changed()

    def changed(self) -> None:
        """Report the status soon, if anyone listens."""
        if self._on_event is not None and self._report is None:
            self._report = asyncio.get_running_loop().call_later(STATUS_EVERY, self._tell)

    def _tell(self) -> None:
        self._report = None
        if self._on_event is not None:
            self._on_event(self.status())

    def status(self) -> Status:
        """The state of things now."""
        latest, redactor = self._latest
        return Status(
            connections=len(self._tapes),
            finished=len(self.recordings),
            failed=len(self.failures),
            client_frames=self._frames["client"],
            server_frames=self._frames["server"],
            client_bytes=self._bytes["client"],
            server_bytes=self._bytes["server"],
            seconds=0.0 if self._began is None else time.monotonic() - self._began,
            last_event=redactor.text(_event_type(latest)),
            message=self._message,
        )

    def finish(self, tape: "Tape", closing: Closing) -> None:
        """Turn a tape into its cassette, in a thread, so that the other connections are not held up."""
        task = asyncio.get_running_loop().create_task(self._finish(tape, closing))
        self._finishing.add(task)
        task.add_done_callback(self._finishing.discard)

    async def _finish(self, tape: "Tape", closing: Closing) -> None:
        try:
            self.recordings.append(await asyncio.to_thread(tape.journal.finish, closing))
        except Exception as error:
            self.failed(
                f"the cassette {tape.folder} could not be finished: {_told(tape.folder, error)}; "
                f"what was recorded is in {journal_folder(tape.folder)} (simrt recover)",
                tape.redactor,
            )
        finally:
            self._tapes.discard(tape)
            self.changed()

    async def settle(self) -> None:
        """Wait until every tape that ended is a cassette; tell the last status."""
        while self._finishing:
            await asyncio.wait(self._finishing)  # unlike gather, leaves them alone when the caller is cancelled
        if self._report is not None:
            self._report.cancel()
            self._tell()


class Tape:
    """One connection being recorded."""

    def __init__(self, recorder: Recorder, journal: Journal, folder: Path, redactor: Redactor) -> None:
        self.journal = journal
        self.folder = folder
        self.redactor = redactor
        self._recorder = recorder
        self._over = False

    def frame(self, t_us: int, sender: Sender, payload: str | bytes) -> None:
        """Write one message to the journal; it is with the operating system when this returns. SimrtError if not."""
        try:
            self.journal.frame(t_us, sender, payload)
        except Exception as error:
            text = f"the recording cannot go on: {_told(self.folder, error)}"
            raise self._recorder.failed(text, self.redactor) from None
        self._recorder.heard(sender, payload, self.redactor)

    def end(self, closing: Closing) -> None:
        """The connection is over: make the cassette. Does nothing the second time."""
        if not self._over:
            self._over = True
            self._recorder.finish(self, closing)


def _told(folder: Path, error: Exception) -> str:
    """An error as a reader wants it; simrt's own name their place themselves."""
    if isinstance(error, SimrtError):
        return str(error)
    reason = error.strerror if isinstance(error, OSError) else None
    return f"{folder}: {reason or str(error) or type(error).__name__}"


class _Typed(msgspec.Struct):
    type: str = ""


_decode_type = msgspec.json.Decoder(_Typed).decode


def _event_type(payload: str | bytes) -> str:
    if not isinstance(payload, str):
        return "binary"
    if len(payload) > _PEEK:
        return ""
    try:
        return _decode_type(payload).type
    except msgspec.MsgspecError:
        return ""
