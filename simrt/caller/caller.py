"""The person on the phone: speaks when a cue comes."""

import asyncio
from collections.abc import Callable, Iterable

import msgspec

from simrt.caller.clip import Clip
from simrt.caller.cue import Cue, Say
from simrt.caller.ear import Change, Ear
from simrt.caller.line import Line


class Utterance(msgspec.Struct, eq=False):
    """Something that was said. `cue_us` is when its cue came; it starts later when the caller was still speaking.

    `ended_us` lies ahead while it is being said, and is the end of the call when that came first.
    """

    clip: Clip
    started_us: int
    ended_us: int
    cue: Cue
    cue_us: int
    parallel: bool = False
    background: bool = False


class _Wait(msgspec.Struct, eq=False):
    """A say whose cue is waited for."""

    say: Say
    cue: Cue
    timer: asyncio.TimerHandle | None = None


class Caller:
    """Says each of `says` into the line's microphone at its cue: one after the other, the parallel ones on their own.

    `replies` is how many replies the cassette has (reply[-1] is the last of them). Raises CueError for a cue that
    names another. Works by timers and by what the ear tells; ends when the line is hung up.
    """

    def __init__(self, says: Iterable[Say], line: Line, ear: Ear, *, replies: int = 0) -> None:
        self.utterances: list[Utterance] = []
        self.listeners: list[Callable[[Utterance], object]] = []
        self.acted: list[Callable[[Say], object]] = []
        self.last_cue_us = 0
        self._line = line
        self._clock = line.clock
        self._ear = ear
        self._replies = replies
        self._queue: list[_Wait] = []
        self._armed: list[_Wait] = []
        self._busy_until = 0
        self._silent = False  # nothing more will be said in order
        self._ends: list[int] = []  # of the lines in order
        self._running = False
        for say in says:
            self.add(say)

    def add(self, say: Say) -> None:
        """One more thing to say: after all others in order, or in parallel."""
        wait = _Wait(say, say.cue.resolve(self._replies))
        if not say.parallel:
            self._queue.append(wait)
            if len(self._queue) > 1:
                return
        if self._running:
            self._arm(wait)
        elif say.parallel:
            self._armed.append(wait)

    def start(self) -> None:
        """Begin to listen, at pickup."""
        self._running = True
        self._ear.listeners.append(self._changed)
        self._line.on_hang_up.append(self.stop)
        waiting, self._armed = [*self._armed, *self._queue[:1]], []
        for wait in waiting:
            self._arm(wait)

    def stop(self) -> None:
        """Fall silent: what is being said ends now, what was not said stays unsaid."""
        if not self._running:
            return
        self._running = False
        for wait in self._armed:
            self._disarm(wait)
        now_us = self._clock.now_us()
        for utterance in self.utterances:
            utterance.ended_us = min(utterance.ended_us, now_us)

    @property
    def unsaid(self) -> list[Say]:
        """Whose cue has not come: those in order, then the parallel ones."""
        return [wait.say for wait in self._queue] + [wait.say for wait in self._armed if wait.say.parallel]

    @property
    def will_speak(self) -> bool:
        """Whether the moment of the next line is known, so that it will come by itself."""
        return any(wait.timer is not None for wait in self._armed)

    @property
    def finished(self) -> bool:
        """Whether everything has been said, to its end."""
        ends = [utterance.ended_us for utterance in self.utterances]
        return not self.unsaid and self._clock.now_us() >= max(ends, default=0)

    def _arm(self, wait: _Wait) -> None:
        self._armed.append(wait)
        self._check(wait)

    def _changed(self, change: Change) -> None:
        for wait in list(self._armed):
            # more in the queue never brings a known moment forward: its timer looks again when it goes off
            if wait.timer is None or change != "play":
                self._check(wait)

    def _fire(self, wait: _Wait) -> None:
        wait.timer = None
        self._check(wait)

    def _check(self, wait: _Wait) -> None:
        """Say it if its moment has come, else wait for that moment as far as it is known."""
        if not self._running or self._line.hung_up or wait not in self._armed:
            return
        self._disarm(wait)
        if self._silent and not wait.say.parallel:
            return
        cue_us = self._moment(wait)
        if cue_us is None:
            return
        start_us = cue_us if wait.say.parallel else max(cue_us, self._busy_until)
        if start_us <= self._clock.now_us():
            self._say(wait, cue_us)
        else:
            wait.timer = self._clock.call_at(start_us, self._fire, wait)

    def _disarm(self, wait: _Wait) -> None:
        if wait.timer is not None:
            wait.timer.cancel()
            wait.timer = None

    def _moment(self, wait: _Wait) -> int | None:
        """When the cue came or will come, as things stand."""
        cue, ear = wait.cue, self._ear
        base: int | None = 0
        if cue.anchor == "quiet":
            # an answer to what was said last, so it must have been heard after that
            since = -1 if wait.say.parallel else self._busy_until
            base = ear.quiet_us()
            base = base if base is not None and base > since else None
        elif cue.turn is not None:
            base = self._ends[cue.turn] if cue.turn < len(self._ends) else None
        elif cue.reply is not None:
            if cue.anchor == "heard":
                return ear.when_heard(cue.reply, cue.offset_us / 1000)
            base = ear.start_us(cue.reply) if cue.anchor == "start" else ear.end_us(cue.reply)
        return None if base is None else base + cue.offset_us

    def _say(self, wait: _Wait, cue_us: int) -> None:
        say = wait.say
        self._armed.remove(wait)
        for acted in self.acted:
            acted(say)
        self._rest(say)
        if not say.clip.duration_us and (say.leave or say.parallel):
            if say.leave:
                self._line.cut("caller")
            return
        started_us = self._line.microphone.say(say.clip)
        ended_us = started_us + say.clip.duration_us
        utterance = Utterance(say.clip, started_us, ended_us, wait.cue, cue_us, say.parallel, say.background)
        self.utterances.append(utterance)
        self.last_cue_us = max(self.last_cue_us, started_us)
        if not say.background:
            self._busy_until = max(self._busy_until, utterance.ended_us)
        for listener in self.listeners:
            listener(utterance)
        if say.leave:
            self._clock.call_at(ended_us, self._line.cut, "caller")
        if not say.parallel:
            del self._queue[0]
            self._ends.append(ended_us)
            for other in list(self._armed):
                if other.cue.turn is not None:
                    self._check(other)
            if self._queue and self._running:
                self._arm(self._queue[0])

    def _rest(self, say: Say) -> None:
        """Say nothing for a while after this one."""
        from_us = self._clock.now_us() + say.clip.duration_us
        if say.rest_us is None:
            self._silent = True
        elif say.rest_us:
            self._busy_until = max(self._busy_until, from_us + say.rest_us)
        if say.gap:
            self._line.microphone.skip(from_us, None if say.rest_us is None else from_us + say.rest_us)
