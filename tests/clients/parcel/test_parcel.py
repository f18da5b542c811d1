"""What the parcel service does with what is delegated, and with what goes wrong, with a server played by hand."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from clients.parcel import BookError, Carrier, OrderBook, Report
from clients.parcel.parcel import HANG_UP_CAP_S, PLACE_AGAIN_S, TELL_AGAIN_S, TRIES

from .server import LiveServer, play

FACT = "Order 4711 shipped yesterday and arrives tomorrow."
QUESTION = "Shall I really cancel order 4711?"


async def told(server: LiveServer, asked: str = "Where is order 4711?", said: str = FACT) -> None:
    """The caller asks, and hears the answer."""
    await server.delegate(asked)
    await server.appended(1)
    await server.say(said)


def test_an_order_is_told_when_the_answer_has_been_heard(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await told(server, said="Your order four seven double one arrives tomorrow!")
        await server.hang_up()

    call = play(tmp_path, script)
    assert call.appends() == [("commentary", FACT, "item_1")]
    order = call.order("4711")
    assert (order.told, order.asked_by) == ("shipped", ("live_1 item_1",))


@pytest.mark.parametrize("said", ["One moment.", "Let me look for order 4711.", "Order 4712 arrives on Friday."])
def test_another_reply_does_not_count_and_it_is_told_again(said: str, tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await told(server, said=said)
        again.append(await server.appended(2))
        await server.say(FACT)
        await server.hang_up()

    again: list[dict[str, object]] = []
    call = play(tmp_path, script)
    assert again[0]["content"] == FACT
    assert call.order("4711").told == "shipped"


def test_what_was_not_heard_is_told_after_the_goodbye(tmp_path: Path) -> None:
    """The caller says goodbye before it could be told again."""

    async def script(server: LiveServer) -> None:
        await server.start()
        await told(server, said="Order")
        await server.turn("Thank you. Bye.")
        await server.say("Goodbye.")
        await server.appended(2)
        await server.say(FACT)
        await server.close()

    call = play(tmp_path, script)
    assert call.appends() == [("commentary", FACT, "item_1")] * 2
    assert call.order("4711").told == "shipped"
    assert "hanging up: the call is finished" in call.notes


def test_a_goodbye_is_not_held_up_for_ever(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await told(server, said="Order")
        await server.turn("Thank you. Bye.")
        await server.say("Goodbye.")
        await server.close()

    call = play(tmp_path, script)
    assert len(call.appends()) <= TRIES
    assert call.order("4711").told == ""


def test_telling_again_has_an_end(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await server.delegate("Where is order 4711?")
        for count in range(1, TRIES + 1):
            await server.appended(count)
        await asyncio.sleep(3 * TELL_AGAIN_S)
        await server.hang_up()

    call = play(tmp_path, script)
    assert call.appends() == [("commentary", FACT, "item_1")] * TRIES
    assert "untold: order 4711 is shipped, send the caller a message" in call.notes
    assert call.order("4711").told == ""


def test_what_is_not_placed_has_more_time_and_is_told_again(tmp_path: Path) -> None:
    async def script(server: LiveServer, wait_s: float) -> None:
        await server.start()
        await server.delegate("Where is order 4711?")
        await asyncio.sleep(wait_s)
        appended.append(len(server.of("session.commentary.append")))
        await server.hang_up()

    appended: list[int] = []
    for wait_s in (PLACE_AGAIN_S - 0.5, PLACE_AGAIN_S + 1):
        play(tmp_path, partial(script, wait_s=wait_s))
    assert appended == [1, 2]


def test_what_is_refused_for_no_reason_is_told_again_but_not_for_ever(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await server.delegate("Where is order 4711?")
        for count in range(1, TRIES + 1):
            await asyncio.sleep(0.1)
            await server.error("server_error", client_event_id=f"commentary-{count}")
        await asyncio.sleep(0.1)
        await server.hang_up()

    assert play(tmp_path, script).appends() == [("commentary", FACT, "item_1")] * TRIES


def test_a_cancelled_answer_is_silenced_and_told_again(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await server.delegate("Where is order 4711?")
        await server.appended(1)
        await server.sound(4000)  # in one burst
        at = server.position_ms
        await server.send("session.output_transcript.delta", delta=FACT, start_ms=at, end_ms=at + 3800)
        await asyncio.sleep(1)
        await server.send("kugel.response.cancelled")
        await server.turn("Wait, please.")
        await asyncio.sleep(0.1)
        queued.append(server.position_ms)
        await server.appended(2)
        await server.say(FACT)
        await server.hang_up()

    queued: list[int] = []
    call = play(tmp_path, script)
    assert "the caller cuts in" in call.notes
    assert call.line.speaker.played_ms < 1100 + 8 * 300 + 6 * 300
    assert call.order("4711").told == "shipped"


def test_two_delegations_of_one_turn_are_worked_on_once(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await server.delegate("Please cancel order 4711.")
        await server.delegate()
        await server.appended(1)
        await server.say(QUESTION)
        await server.hang_up()

    call = play(tmp_path, script)
    assert call.appends() == [
        ("commentary", QUESTION, "item_1"),
        ("thinking", "This is being dealt with already.", "item_2"),
    ]


def test_a_delegation_that_lies_nowhere_is_about_the_last_turn(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await server.turn("Where is order 4711?")
        await server.send("session.delegation.created", delegation={"id": "item_1", "type": "delegation"})
        await server.appended(1)
        await server.say(FACT)
        await server.hang_up()

    call = play(tmp_path, script)
    assert call.appends() == [("commentary", FACT, "item_1")]
    assert call.order("4711").told == "shipped"


def test_two_turns_are_worked_on_side_by_side(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await server.delegate("Where is order 4712?")
        await asyncio.sleep(1)
        await server.delegate("And where is order 4711?")
        await server.appended(3)
        await server.hang_up()

    call = play(tmp_path, script)
    assert [(kind, to) for kind, _, to in call.appends()][:3] == [
        ("thinking", "item_1"),
        ("commentary", "item_2"),
        ("commentary", "item_1"),  # five seconds later, under its own id
    ]


def test_without_a_commit_the_last_words_are_waited_for(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        at = server.position_ms
        await server.send("session.input_transcript.delta", delta="It's 47", start_ms=at, end_ms=at + 200)
        await server.delegate()
        await server.send("session.input_transcript.delta", delta=" eleven.", start_ms=at, end_ms=at + 200)
        await server.appended(1)
        await server.say(FACT)
        await server.hang_up()

    call = play(tmp_path, script, kugel=False)  # type: ignore[arg-type]
    assert call.appends() == [("commentary", FACT, "item_1")]


def test_a_delegation_may_come_before_its_words(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await server.delegate()
        await server.turn("Where is order 4711?")
        await server.appended(1)
        await server.say(FACT)
        await server.hang_up()

    assert play(tmp_path, script).appends() == [("commentary", FACT, "item_1")]


def test_what_is_committed_counts_and_not_the_deltas(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        at = {"start_ms": server.position_ms, "end_ms": server.position_ms + 200}
        await server.send("session.input_transcript.delta", delta="Where is order 4712?", **at)
        await server.send("kugel.input_transcript.committed", text="Where is order 4711?", **at)
        await server.delegate()
        await server.appended(1)
        await server.say(FACT)
        await server.hang_up()

    assert play(tmp_path, script).appends() == [("commentary", FACT, "item_1")]


def test_a_yes_to_a_question_that_was_not_heard_does_not_count(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await server.delegate("Please cancel order 4711.")
        await server.appended(1)
        await asyncio.sleep(0.5)
        await server.delegate("Yes, yes.")  # impatience
        await server.appended(2)
        await server.say(QUESTION)
        await server.delegate("Yes.")
        await server.appended(3)
        await server.say("Order 4711 is cancelled.")
        await server.hang_up()

    call = play(tmp_path, script)
    assert [content for _, content, _ in call.appends()] == [QUESTION, QUESTION, "Order 4711 is cancelled."]
    order = call.order("4711")
    assert (order.status, order.told, order.confirmed) == ("cancelled", "cancelled", "Yes.")


def test_a_question_is_off_when_something_else_is_said(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await server.delegate("Please cancel order 4711.")
        await server.appended(1)
        await server.say(QUESTION)
        await server.delegate("Hm, where is order 4712?")
        await server.appended(3)
        await server.say("Order 4712 arrives on Friday.")
        await server.delegate("Yes.")
        await server.appended(4)
        await server.hang_up()

    call = play(tmp_path, script)
    kind, content, to = call.appends()[-1]
    assert (kind, to) == ("commentary", "item_3")
    assert content.endswith("They should say what they want.")
    assert call.order("4711").status == "shipped"


def test_a_question_that_something_came_between_is_asked_again(tmp_path: Path) -> None:
    """The yes may be the answer to what the agent has asked meanwhile."""

    async def script(server: LiveServer) -> None:
        await server.start()
        await server.delegate("Please cancel order 4711.")
        await server.appended(1)
        await server.say(QUESTION)
        await server.delegate("Oh, one more thing. Is breakfast included?")
        await server.appended(2)
        await server.say("Breakfast is included. Anything else?")
        await server.delegate("Yes.")
        await server.appended(3)
        await server.say(QUESTION)
        status.append(book.order("4711").status)
        await server.delegate("Yes.")
        await server.appended(4)
        await server.say("Order 4711 is cancelled.")
        await server.hang_up()

    status: list[str] = []
    book = OrderBook(tmp_path / "book.sqlite")
    call = play(tmp_path, script, book=book)
    assert [content for kind, content, _ in call.appends() if kind == "commentary"][:2] == [QUESTION, QUESTION]
    assert status == ["shipped"]
    assert call.order("4711").told == "cancelled"


def test_a_question_that_was_cut_off_is_asked_again(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await server.delegate("Please cancel order 4711.")
        await server.appended(1)
        await server.say("Shall I")
        await server.delegate("Hang on a second.")
        await server.appended(2)
        await server.appended(3)
        await server.hang_up()

    call = play(tmp_path, script)
    assert [content for kind, content, _ in call.appends() if kind == "commentary"] == [QUESTION, QUESTION]


def test_what_has_been_cancelled_is_not_asked_for_twice(tmp_path: Path) -> None:
    book = OrderBook(tmp_path / "book.sqlite")
    book.cancel("4711", "Yes, on an earlier call.")

    async def script(server: LiveServer) -> None:
        await server.start()
        await server.delegate("Please cancel order 4711.")
        await server.appended(1)
        await server.say(QUESTION)
        await server.delegate("Yes.")
        await server.appended(2)
        await server.say("Order 4711 is cancelled.")
        await server.hang_up()

    assert play(tmp_path, script, book=book).order("4711").confirmed == "Yes, on an earlier call."


@pytest.mark.parametrize("said", ["Where is my order?", "Please cancel my order."])
def test_without_a_number_it_is_asked_for(said: str, tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await server.delegate(said)
        await server.appended(1)
        await server.hang_up()

    fact = "The order's number was not understood. The caller should say the number again."
    assert play(tmp_path, script).appends() == [("commentary", fact, "item_1")]


def test_a_carrier_that_does_not_answer_is_not_made_up_for(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await server.delegate("Where is order 4712?")
        await server.appended(2)
        await server.hang_up()

    call = play(tmp_path, script, carrier=Carrier(failing=True))
    fact = "The carrier does not say where order 4712 is. The caller may try again later."
    assert call.appends()[1] == ("commentary", fact, "item_1")
    assert call.order("4712").status == "with the carrier"


def test_a_result_outlives_its_delegation(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await server.delegate("Where is order 4711?")
        append = await server.until("session.commentary.append")
        await server.error("invalid_value", param="delegation_id", client_event_id=append["event_id"])
        await server.until("session.commentary.append", 2)
        await server.appended(2)
        await server.say(FACT)
        await server.hang_up()

    call = play(tmp_path, script)
    assert call.appends() == [("commentary", FACT, "item_1"), ("commentary", FACT, None)]
    assert call.order("4711").told == "shipped"


def test_another_refusal_is_noted_and_not_repeated(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await server.delegate("Where is order 4711?")
        append = await server.until("session.commentary.append")
        await server.error("invalid_value", "Too long.", param="content", client_event_id=append["event_id"])
        await asyncio.sleep(10)
        await server.hang_up()

    call = play(tmp_path, script)
    assert len(call.appends()) == 1
    assert "the server reports invalid_value: Too long. about commentary-1" in call.notes


class BrokenBook(OrderBook):
    """Cannot be written when a caller asks."""

    def asked(self, number: str, asker: str, *, verified: bool = False) -> None:  # type: ignore[override]
        raise BookError("the disk is full")


def test_a_book_that_fails_is_no_news_of_an_order(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await server.delegate("Where is order 4711?")
        await server.appended(1)
        await server.hang_up()

    call = play(tmp_path, script, book=BrokenBook(tmp_path / "book.sqlite"))
    (append,) = call.appends()
    assert append[1].startswith("The order book cannot be used just now. Nothing was changed")
    assert "the disk is full" in call.notes


def test_news_of_a_cancelled_order_is_not_announced(tmp_path: Path) -> None:
    carrier = Carrier(news={"4711": Report("delivered", "Order 4711 has been delivered.", 8.0)})

    async def script(server: LiveServer) -> None:
        await server.start()
        await told(server)
        OrderBook(tmp_path / "book.sqlite").cancel("4711", "Yes.")
        await asyncio.sleep(8)
        await server.hang_up()

    assert len(play(tmp_path, script, carrier=carrier).appends()) == 1


def test_the_line_is_let_go_when_the_goodbye_has_been_played(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await server.turn("Bye.")
        at = server.position_ms
        await server.sound(2980)  # far ahead of being heard
        await server.sound(20, b"\0\0")
        await server.send(
            "session.output_transcript.delta", delta="Thank you for calling. Goodbye.", start_ms=at, end_ms=at + 2800
        )
        await server.close()

    call = play(tmp_path, script)
    assert call.line.speaker.played_ms == 3000
    assert 3 < call.hung_up_s < 4.2


def test_a_stall_in_the_goodbye_is_waited_out(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await server.turn("Bye.")
        at = server.position_ms
        await server.send(
            "session.output_transcript.delta", delta="Thank you for calling. Goodbye.", start_ms=at, end_ms=at + 2800
        )
        await server.sound(1500)
        await asyncio.sleep(4)
        await server.sound(1500)
        await server.close()

    assert play(tmp_path, script).line.speaker.played_ms == 3000


def test_without_a_goodbye_the_line_is_let_go_at_a_cap(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await server.turn("Bye.")
        await server.say("It was nice talking to you.")
        await server.close()

    call = play(tmp_path, script)
    assert "hang-up cap hit" in call.notes
    assert HANG_UP_CAP_S < call.hung_up_s < HANG_UP_CAP_S + 4


def test_a_goodbye_of_the_agents_own_ends_nothing(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await server.say("Say goodbye when you are done.")
        await asyncio.sleep(2)
        assert not server.of("session.close")
        await told(server)
        await server.hang_up()

    assert play(tmp_path, script).order("4711").told == "shipped"
