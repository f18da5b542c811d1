import pytest

from simrt.audio import PCM24
from simrt.caller import Caller, CueError, Say, parse_cue

from .loops import Room, StockLoop, clip, noise
from .test_ear import say


def says(*entries: tuple[str, float]) -> list[Say]:
    """Clips of so many ms at those cues."""
    return [Say(clip(ms, 50 + k, f"clip-{k}"), parse_cue(cue)) for k, (cue, ms) in enumerate(entries)]


def start(room: Room, *entries: tuple[str, float], replies: int = 2, parallel: tuple[Say, ...] = ()) -> Caller:
    caller = Caller([*says(*entries), *parallel], room.line, room.ear, replies=replies)
    caller.start()
    return caller


def times(caller: Caller) -> list[tuple[float, float]]:
    """Start and end of each utterance in ms."""
    return [(u.started_us / 1000, u.ended_us / 1000) for u in caller.utterances]


@pytest.mark.parametrize(
    ("cue", "at"),
    [
        ("pickup", 0),
        ("pickup+300ms", 300),
        ("reply[0].start", 1000),
        ("reply[0].start+200ms", 1200),
        ("reply[0].heard+250ms", 1250),
        ("reply[0].heard+800ms", 1800),
        ("reply[0].end", 1800),
        ("reply[-2].end+600ms", 2400),
        ("reply[1].start+5ms", 3005),
        ("reply[-1].heard+500ms", 3500),
        ("line.quiet+800ms", 2600),
    ],
)
def test_speaks_at_the_moment_of_the_cue(room: Room, cue: str, at: float) -> None:
    say(room, 0, noise(800, 1), 1000, pace=0.5)
    say(room, 1, noise(600, 2), 3000)
    caller = start(room, (cue, 400))
    room.run_until(6000)
    assert times(caller) == [(at, at + 400)]
    utterance = caller.utterances[0]
    assert utterance.cue_us == caller.last_cue_us == at * 1000
    assert utterance.cue == parse_cue(cue).resolve(2)
    assert [said.start_us for said in room.microphone.said] == [at * 1000]
    assert caller.unsaid == []


def test_what_is_said_reaches_the_microphone_to_the_sample(room: Room) -> None:
    say(room, 0, noise(333), 100)
    start(room, ("reply[0].end+50ms", 100))

    async def main() -> bytes:
        return b"".join([await anext(room.microphone) for _ in range(40)])

    audio = PCM24.decode(room.run(main()))
    at = 24 * (100 + 333 + 50)
    assert audio[at : at + 2400].tobytes() == noise(100, 50).tobytes()
    assert not audio[:at].any()


def test_says_come_in_order_whatever_their_cues(room: Room) -> None:
    say(room, 0, noise(400), 100)
    caller = start(room, ("reply[0].end+1s", 200), ("pickup+300ms", 200), ("reply[0].start", 200))
    room.run_until(3000)
    assert times(caller) == [(1500, 1700), (1700, 1900), (1900, 2100)]
    assert [u.cue_us for u in caller.utterances] == [1_500_000, 300_000, 100_000]
    assert caller.last_cue_us == 1_900_000


def test_a_caller_does_not_talk_over_himself(room: Room) -> None:
    say(room, 0, noise(400), 200)
    caller = start(room, ("pickup+100ms", 1000), ("reply[0].end+100ms", 300))
    room.run_until(3000)
    assert times(caller) == [(100, 1100), (1100, 1400)]


def test_a_barge_in_waits_for_its_own_cue(room: Room) -> None:
    say(room, 0, noise(800, 1), 100)
    say(room, 1, noise(800, 2), 3000)
    wait = Say(clip(500, 9), parse_cue("reply[-1].heard+500ms"), parallel=True)
    caller = start(room, ("reply[0].end+300ms", 400), ("reply[1].end", 100), parallel=(wait,))
    room.run_until(5000)
    assert times(caller) == [(1200, 1600), (3500, 4000), (4000, 4100)]
    assert [u.parallel for u in caller.utterances] == [False, True, False]


def test_a_parallel_say_comes_in_while_another_is_being_said(room: Room) -> None:
    tv = Say(clip(500, 9), parse_cue("pickup+200ms"), parallel=True, background=True)
    caller = start(room, ("pickup+100ms", 300), ("pickup+410ms", 100), parallel=(tv,))
    room.run_until(2000)
    assert times(caller) == [(100, 400), (200, 700), (410, 510)]


def test_a_say_can_be_added_during_the_call(room: Room) -> None:
    caller = start(room, ("pickup+100ms", 100))
    room.at(500, lambda: caller.add(says(("pickup+700ms", 50))[0]))
    room.at(600, lambda: caller.add(Say(clip(20), parse_cue("pickup+650ms"), parallel=True)))
    room.run_until(2000)
    assert times(caller) == [(100, 200), (650, 670), (700, 750)]


def test_quiet_means_quiet_after_what_was_said_last(room: Room) -> None:
    say(room, 0, noise(400, 1), 0)
    caller = start(room, ("line.quiet+300ms", 200), ("line.quiet+300ms", 200))
    say(room, 1, noise(400, 2), 2000)
    room.run_until(4000)
    assert times(caller) == [(700, 900), (2700, 2900)]


def test_quiet_starts_again_when_the_agent_goes_on(room: Room) -> None:
    say(room, 0, noise(400, 1), 0)
    say(room, 1, noise(400, 2), 900)
    caller = start(room, ("line.quiet+800ms", 200))
    room.run_until(4000)
    assert times(caller) == [(2100, 2300)]


def test_quiet_never_comes_when_nothing_was_heard(room: Room) -> None:
    caller = start(room, ("line.quiet+800ms", 200))
    room.run_until(10_000)
    assert caller.utterances == []
    assert [str(entry.cue) for entry in caller.unsaid] == ["line.quiet+800ms"]
    assert caller.last_cue_us == 0
    assert not caller.finished


def test_a_client_that_plays_silence_without_end_is_quiet_too(room: Room) -> None:
    say(room, 0, noise(400, 1), 0)
    for k in range(200):
        room.at(400 + 20 * k, room.speaker.play, PCM24.silence(20))
    caller = start(room, ("line.quiet+800ms", 200))
    room.run_until(4000)
    assert times(caller) == [(1200, 1400)]


def test_the_end_is_re_armed_when_more_of_the_reply_comes(room: Room) -> None:
    """The client holds the second half back, so the queue was empty for a while."""
    whole = noise(800)

    def send() -> None:
        room.ear.sent(0, whole, 100_000)
        room.ear.ended(0, 100_000)
        room.speaker.play(PCM24.encode(whole[:9600]))

    room.at(100, send)
    room.at(800, room.speaker.play, PCM24.encode(whole[9600:]))
    caller = start(room, ("reply[0].end+600ms", 200))
    room.run_until(4000)
    assert times(caller) == [(1800, 2000)]


def test_a_reply_that_does_not_end_is_waited_for(room: Room) -> None:
    say(room, 0, noise(400), 100, ended=False)
    caller = start(room, ("reply[0].end+600ms", 200))
    room.run_until(3000)
    assert caller.utterances == []
    room.ear.ended(0, 3_000_000, True)
    room.run_until(5000)
    assert times(caller) == [(3600, 3800)]


def test_a_cleared_queue_takes_the_moment_back(room: Room) -> None:
    """500 ms of the reply would have been heard at 600 ms, but the queue is cleared before."""
    say(room, 0, noise(400, 1), 100, pace=0)
    say(room, 1, noise(800, 2), 200, pace=0)
    caller = start(room, ("reply[1].heard+300ms", 100))
    room.at(550, room.speaker.clear)
    room.run_until(1500)
    assert caller.utterances == []
    room.speaker.play(PCM24.encode(noise(800, 2)[1200:]))
    room.run_until(3000)
    assert times(caller) == [(1750, 1850)]


def test_clearing_brings_the_end_forward(room: Room) -> None:
    say(room, 0, noise(2000), 0, pace=0)
    caller = start(room, ("reply[0].end+100ms", 100))
    room.at(700, room.speaker.clear)
    room.run_until(3000)
    assert times(caller) == [(800, 900)]


def test_injected_replies_are_cued_by_their_key(room: Room) -> None:
    say(room, "answer-0", noise(400), 500)
    caller = start(room, ('reply["answer-0"].end+600ms', 100), replies=0)
    room.run_until(3000)
    assert times(caller) == [(1500, 1600)]


def test_a_cue_for_a_reply_that_is_not_there_is_an_error_at_once(room: Room) -> None:
    with pytest.raises(CueError, match="2 replies"):
        Caller(says(("reply[2].end", 100)), room.line, room.ear, replies=2)


def test_a_line_may_wait_for_the_end_of_another(room: Room) -> None:
    aside = Say(clip(50, name="aside"), parse_cue("turn[1].end+900ms"), parallel=True)
    caller = start(room, ("pickup+100ms", 200), ("pickup+500ms", 300), parallel=(aside,))
    room.run_until(3000)
    assert [(u.clip.name, u.started_us / 1000) for u in caller.utterances][-1] == ("aside", 1700)


def test_for_a_while_after_a_line_nothing_else_is_said(room: Room) -> None:
    aside = Say(clip(100, name="aside"), parse_cue("pickup+200ms"), parallel=True, rest_us=1_500_000)
    caller = start(room, ("pickup+500ms", 100), parallel=(aside,))
    room.run_until(3000)
    assert times(caller) == [(200, 300), (1800, 1900)]


def test_or_nothing_ever_again(room: Room) -> None:
    silent = Say(clip(0, name="nothing"), parse_cue("pickup+200ms"), parallel=True, rest_us=None)
    caller = start(room, ("pickup+500ms", 100), ("pickup+700ms", 100), parallel=(silent,))
    room.run_until(30_000)
    assert times(caller) == []
    assert len(caller.unsaid) == 2


def test_meanwhile_the_microphone_may_give_nothing(room: Room) -> None:
    gap = Say(clip(0, name="nothing"), parse_cue("pickup+210ms"), parallel=True, rest_us=400_000, gap=True)
    start(room, parallel=(gap,))
    ends: list[float] = []

    async def main() -> None:
        async for _ in room.microphone:
            ends.append(room.ms)

    room.at(1000, room.line.cut, "client")
    room.run(main())
    assert ends == [20.0 * k for k in range(1, 12)] + [20.0 * k for k in range(32, 50)]


def test_who_listens_is_told_of_whatever_the_caller_does(room: Room) -> None:
    leave = Say(clip(0, name="nothing"), parse_cue("pickup+300ms"), parallel=True, leave=True)
    caller = start(room, ("pickup+100ms", 100), parallel=(leave,))
    told: list[tuple[str, float]] = []
    caller.acted.append(lambda say: told.append((say.clip.name, room.ms)))
    room.run_until(1000)
    assert told == [("clip-0", 100), ("nothing", 300)]
    assert room.line.hung_up_by == "caller"


def test_hanging_up_ends_the_caller(room: Room) -> None:
    say(room, 0, noise(800), 0, pace=0)
    caller = start(
        room,
        ("pickup+100ms", 500),
        ("reply[0].end", 100),
        parallel=(Say(clip(50), parse_cue("reply[1].end"), parallel=True),),
    )
    room.at(300, room.line.cut, "client")
    room.run_until(3000)
    assert times(caller) == [(100, 300)]
    assert [str(entry.cue) for entry in caller.unsaid] == ["reply[0].end", "reply[1].end"]
    caller.add(says(("pickup", 100))[0])
    room.run_until(4000)
    assert len(caller.utterances) == 1


def test_a_listener_may_hang_up(room: Room) -> None:
    caller = start(room, ("pickup+100ms", 100), ("pickup+150ms", 100))
    caller.listeners.append(lambda utterance: room.line.cut("caller"))
    room.run_until(1000)
    assert times(caller) == [(100, 100)]
    assert len(caller.unsaid) == 1


def test_listeners_are_told_what_is_said(room: Room) -> None:
    caller = start(room, ("pickup+100ms", 100), ("pickup+300ms", 100))
    told: list[tuple[str, float]] = []
    caller.listeners.append(lambda utterance: told.append((utterance.clip.name, room.ms)))
    room.run_until(1000)
    assert told == [("clip-0", 100), ("clip-1", 300)]
    assert caller.finished


def test_a_call_goes_the_same_with_late_timers() -> None:
    loop = StockLoop(late=0.0037)
    room = Room(loop)
    say(room, 0, noise(800), 1000)
    caller = start(room, ("pickup+300ms", 200), ("reply[0].end+600ms", 200), replies=1)
    room.run_until(4000)
    assert [u.clip.name for u in caller.utterances] == ["clip-0", "clip-1"]
    assert all(u.started_us >= u.cue_us for u in caller.utterances)
    loop.close()
