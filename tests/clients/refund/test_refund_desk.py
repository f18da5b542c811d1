"""The refund desk against a scripted server, in virtual time."""

import asyncio
import gc
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from clients.desk.patience import ANSWER_S
from clients.refund import Ledger, LedgerError, Provider, RefundDesk, Row
from clients.refund.store import ORDERS
from simrt.caller import Line
from tests.clients.refund.test_ledger import ReadOnly
from tests.clients.scripted import Outcome, Script, Server, greet_only
from tests.clients.scripted import play as play_client

VISA, MASTERCARD = "4242", "8812"
DONE = "All done. Your $32 went back to your Visa ending in 4242."
MS_PER_LETTER = 70


class Shop:
    """A ledger and a provider, and calls to their desk."""

    desk: type[RefundDesk] = RefundDesk

    def __init__(self, path: Path) -> None:
        self.ledger = Ledger(path / "ledger.sqlite", patience_s=0.05)
        self.provider = Provider()

    def play(self, script: Script, caller_hangs_up_s: float = 60.0) -> Outcome:
        def client(line: Line) -> RefundDesk:
            return self.desk(line, self.ledger, self.provider)

        return play_client(client, script, caller_hangs_up_s=caller_hangs_up_s)

    @property
    def row(self) -> Row:
        [row] = self.ledger.rows()
        return row


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


async def ask(server: Server, card: str = VISA, call_id: str = "c1", response: str = "r1", **extra: Any) -> None:
    arguments = {"order_id": "4417", "card_last4": card, "say_while_working": "One moment.", **extra}
    await server.call("issue_refund", json.dumps(arguments), call_id, response)


async def hold(server: Server, card: str = VISA, call_id: str = "c1", response: str = "r1", **extra: Any) -> None:
    """A response that calls the tool and speaks the holding line for 2 s."""
    await server.begin(response)
    await ask(server, card, call_id, response, **extra)
    await say(server, f"One moment, sending that to your card ending in {card}.", response, seconds=2)


async def say(server: Server, text: str, response: str, seconds: float | None = None, done: bool = True) -> None:
    """A reply: all of its audio at once."""
    item = f"item-{response}"
    await server.audio(round(1000 * seconds) if seconds else len(text) * MS_PER_LETTER, response, item)
    where = {"response_id": response, "item_id": item, "content_index": 0}
    await server.send("response.output_audio_transcript.delta", delta=text[:5], **where)
    await server.send("response.output_audio_transcript.done", transcript=text, **where)
    if done:
        await server.done(response)


async def reply(server: Server, text: str, response: str) -> None:
    """A reply, heard to its end."""
    await server.begin(response)
    await say(server, text, response)
    await asyncio.sleep(len(text) * MS_PER_LETTER / 1000 + 0.1)


async def result(server: Server, nth: int = 1) -> None:
    """The nth output is there, and the server has it in history."""
    item = await outputs(server, nth)
    await server.in_history(item["call_id"])


async def outputs(server: Server, nth: int = 1) -> dict[str, Any]:
    while len(items := [item for item in created(server) if item["type"] == "function_call_output"]) < nth:
        await server.until("conversation.item.create", len(created(server)) + 1)
    return items[nth - 1]


def created(server: Server) -> list[dict[str, Any]]:
    return [event["item"] for event in server.of("conversation.item.create")]


def reminders(outcome: Outcome) -> list[str]:
    return [item["content"][0]["text"] for item in created(outcome.server) if item["type"] == "message"]


async def cut_in(server: Server, response: str | None = None) -> None:
    await server.send("input_audio_buffer.speech_started", audio_start_ms=0, item_id="u")
    if response:
        await server.done(response, "cancelled")


def test_tools() -> None:
    outcome = play_client(RefundDesk, greet_only, caller_hangs_up_s=1)
    tools = {tool["name"]: tool["parameters"] for tool in outcome.server.of("session.update")[0]["session"]["tools"]}
    assert set(tools) == {"issue_refund", "end_call"}
    assert tools["issue_refund"]["required"] == ["order_id", "card_last4", "say_while_working"]
    assert tools["issue_refund"]["properties"]["say_while_working"]["poly_spoken"] is True
    assert tools["end_call"]["properties"]["goodbye"]["poly_spoken"] is True


async def plain(server: Server) -> None:
    await server.greet()
    await hold(server)
    await result(server)
    await server.until("response.create")
    await reply(server, DONE, "r2")


def test_a_refund_is_made_and_told(shop: Shop) -> None:
    outcome = shop.play(plain, 30)
    [(call_id, output)] = outcome.outputs
    assert (call_id, output["status"], output["refund_id"]) == ("c1", "refunded", "R-4417")
    assert "name the Visa ending in 4242" in output["message"]
    assert "Thursday, January 8" in output["message"]
    assert (shop.row.accepted, shop.row.told, shop.row.cents) == (True, True, 3200)
    assert shop.row.asked_at == "2026-01-05 09:00:00.000"
    assert [payment.card for payment in shop.provider.payments] == [VISA]
    assert len(outcome.server.of("response.create")) == 1
    assert reminders(outcome) == []


def test_the_tool_starts_at_its_arguments_and_not_after_the_line(shop: Shop) -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await ask(server)
        await say(server, "One moment.", "r1", seconds=6)
        await result(server)

    outcome = shop.play(script, 10)
    assert outcome.server.when("conversation.item.create") == [4_000_000]
    assert outcome.leftovers == []


def test_a_barge_in_on_the_line_does_not_undo_the_call(shop: Shop) -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await ask(server)
        await say(server, "One moment.", "r1", seconds=6, done=False)
        await asyncio.sleep(0.5)
        await cut_in(server, "r1")
        await asyncio.sleep(1)
        await server.send("input_audio_buffer.speech_stopped", audio_end_ms=1000, item_id="u")
        await reply(server, "It is still processing.", "r2")
        await result(server)
        await server.until("response.create")
        await reply(server, DONE, "r3")

    outcome = shop.play(script, 20)
    assert len(outcome.outputs) == 1
    assert len(outcome.server.of("response.create")) == 1
    assert shop.row.told


def test_a_desk_of_its_own_has_a_ledger_of_its_own() -> None:
    desks: list[RefundDesk] = []

    def client(line: Line) -> RefundDesk:
        desks.append(RefundDesk(line))
        return desks[-1]

    play_client(client, plain, caller_hangs_up_s=20)
    assert [row.told for row in desks[0].ledger.rows()] == [True]
    folder = desks[0].ledger.path.parent
    desks.clear()
    gc.collect()
    assert not folder.exists()


# What counts as told


def told_after(shop: Shop, *steps: tuple[str, str], cut_s: float | None = None) -> Outcome:
    """After the result each (response, text) is spoken when it is asked for; the last is cut after `cut_s`."""

    async def script(server: Server) -> None:
        await server.greet()
        await hold(server)
        await result(server)
        for number, (response, text) in enumerate(steps, 1):
            await server.until("response.create", number)
            if cut_s is not None and number == len(steps):
                await server.begin(response)
                await say(server, text, response, done=False)
                await asyncio.sleep(cut_s)
                await cut_in(server, response)
            else:
                await reply(server, text, response)

    return shop.play(script, 40)


def test_a_reply_that_does_not_name_the_card_is_followed_by_a_reminder(shop: Shop) -> None:
    outcome = told_after(shop, ("r2", "That is done."), ("r3", DONE))
    [reminder] = reminders(outcome)
    assert "Visa ending in 4242" in reminder
    assert len(outcome.server.of("response.create")) == 2
    assert shop.row.told


def test_two_reminders_at_most(shop: Shop) -> None:
    outcome = told_after(shop, ("r2", "That is done."), ("r3", "Indeed it is."), ("r4", "Yes."))
    assert len(reminders(outcome)) == 2
    assert len(outcome.server.of("response.create")) == 3
    assert not shop.row.told
    assert [row.order for row in shop.ledger.untold()] == ["4417"]
    assert "untold: R-4417 to 4242" in outcome.notes


def test_another_card_is_not_the_card(shop: Shop) -> None:
    told_after(shop, ("r2", "It went to your card ending in 8812."))
    assert not shop.row.told


def test_digits_may_be_said_as_words(shop: Shop) -> None:
    told_after(shop, ("r2", "It went to your Visa ending in forty-two forty-two."))
    assert shop.row.told


def test_a_reply_that_is_cut_before_the_card_is_no_news(shop: Shop) -> None:
    outcome = told_after(shop, ("r2", DONE), cut_s=1.2)
    assert not shop.row.told
    assert len(reminders(outcome)) == 0  # their turn brings a reply


def test_a_reply_that_is_cut_well_after_the_card_is_news(shop: Shop) -> None:
    long = DONE + " It takes three to five days to show up, and you will get a message from us when it has."
    told_after(shop, ("r2", long), cut_s=9.0)
    assert shop.row.told


def test_a_reply_that_the_caller_hangs_up_on_is_no_news(shop: Shop) -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await hold(server)
        await result(server)
        await server.until("response.create")
        await server.begin("r2")
        await say(server, DONE, "r2")

    shop.play(script, 5)
    assert (shop.row.accepted, shop.row.told) == (True, False)


def test_what_was_heard_at_hang_up_counts(shop: Shop) -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await hold(server)
        await result(server)
        await server.until("response.create")
        await server.begin("r2")
        await say(server, DONE, "r2", done=False)  # its end never comes
        await asyncio.sleep(len(DONE) * MS_PER_LETTER / 1000)
        await server.send("response.output_audio.done", response_id="r2")
        await asyncio.sleep(0.01)
        server.connection.transport.abort()

    shop.play(script)
    assert shop.row.told


def test_a_reply_from_before_the_result_is_no_news(shop: Shop) -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await hold(server)
        await asyncio.sleep(1.5)
        await server.begin("r2")
        await outputs(server)
        await server.in_history()
        await say(server, f"I am still sending it to the {VISA}.", "r2")

    outcome = shop.play(script, 12)
    assert not shop.row.told
    assert len(outcome.server.of("response.create")) == 1
    assert reminders(outcome) == []


def test_a_holding_line_is_no_news(shop: Shop) -> None:
    async def script(server: Server) -> None:
        await plain_until_asked(server)
        await hold(server, call_id="c2", response="r2")  # instead of an answer, the tool again
        await result(server, 2)

    shop.play(script, 12)
    assert shop.row.call_ids == ("c1", "c2")
    assert not shop.row.told


async def plain_until_asked(server: Server) -> None:
    await server.greet()
    await hold(server)
    await result(server)
    await server.until("response.create")


def test_no_reminder_while_the_caller_has_the_turn(shop: Shop) -> None:
    async def script(server: Server) -> None:
        await plain_until_asked(server)
        await server.begin("r2")
        await say(server, DONE, "r2", done=False)
        await asyncio.sleep(1.2)
        await cut_in(server, "r2")
        await asyncio.sleep(4)
        await server.send("input_audio_buffer.speech_stopped", audio_end_ms=0, item_id="u")
        await asyncio.sleep(ANSWER_S / 2)
        assert len(created(server)) == 1
        await reply(server, "Three to five days.", "r3")
        await server.until("response.create", 2)
        await reply(server, DONE, "r4")

    outcome = shop.play(script, 40)
    assert len(reminders(outcome)) == 1
    assert shop.row.told


def test_a_cough_that_nobody_answers_is_followed_by_a_reminder(shop: Shop) -> None:
    async def script(server: Server) -> None:
        await plain_until_asked(server)
        await server.begin("r2")
        await say(server, DONE, "r2", done=False)
        await asyncio.sleep(1.2)
        await cut_in(server, "r2")
        await server.send("input_audio_buffer.speech_stopped", audio_end_ms=0, item_id="u")
        await server.until("response.create", 2)
        await reply(server, DONE, "r3")

    outcome = shop.play(script, 40)
    assert len(reminders(outcome)) == 1
    assert shop.row.told


@pytest.mark.parametrize("status", ["failed", "incomplete"])
def test_a_reply_that_breaks_down_is_asked_for_again(shop: Shop, status: str) -> None:
    async def script(server: Server) -> None:
        await plain_until_asked(server)
        await server.begin("r2")
        await server.done("r2", status)
        await server.until("response.create", 2)
        await reply(server, DONE, "r3")

    assert not reminders(shop.play(script, 20))
    assert shop.row.told


def test_a_reminder_waits_for_the_active_response(shop: Shop) -> None:
    async def script(server: Server) -> None:
        await plain_until_asked(server)
        await server.begin("r2")
        await say(server, "That is done.", "r2")
        await server.begin("r3")  # before r2 has been played
        await asyncio.sleep(3)
        assert len(created(server)) == 1
        await say(server, "And it is Monday.", "r3")
        await server.until("response.create", 2)
        await reply(server, DONE, "r4")

    assert len(reminders(shop.play(script, 30))) == 1
    assert shop.row.told


def test_no_reminder_after_the_goodbye(shop: Shop) -> None:
    async def script(server: Server) -> None:
        await plain_until_asked(server)
        await server.begin("r2")
        await server.goodbye("c2", "r2")
        await say(server, "Goodbye.", "r2")

    outcome = shop.play(script)
    assert outcome.line.hung_up_by == "client"
    assert reminders(outcome) == []
    assert "untold" in outcome.notes


# The card changes


@pytest.mark.parametrize("after_s", [1, 6])
def test_a_changed_card_is_paid_and_the_first_is_not(shop: Shop, after_s: float) -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await hold(server)
        if after_s > 4:
            await result(server)
            await reply(server, DONE, "r2")
        await asyncio.sleep(after_s - 4 if after_s > 4 else after_s)
        await hold(server, MASTERCARD, "c2", "r3")
        await result(server, 2)
        await server.until("response.create", 2 if after_s > 4 else 1)
        await reply(server, "It goes to your Mastercard, 8812, now.", "r4")

    outcome = shop.play(script, 40)
    assert (shop.row.card, shop.row.accepted, shop.row.told) == (MASTERCARD, True, True)
    assert shop.row.call_ids == ("c1", "c2")
    assert [payment.card for payment in shop.provider.paid] == [MASTERCARD]
    output = dict(outcome.outputs)["c2"]
    assert output["status"] == "card_changed"
    assert "not to the Visa ending in 4242" in output["message"]
    first = dict(outcome.outputs)["c1"]
    assert first["status"] == ("refunded" if after_s > 4 else "superseded")


def test_the_first_call_of_a_changed_card_is_answered_and_asks_for_no_reply(shop: Shop) -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await hold(server)
        await asyncio.sleep(1)
        await hold(server, MASTERCARD, "c2", "r2")
        await outputs(server)
        await server.in_history("c1")
        await asyncio.sleep(2)
        assert not server.of("response.create")
        await outputs(server, 2)

    outcome = shop.play(script, 12)
    assert [call_id for call_id, _ in outcome.outputs] == ["c1", "c2"]
    assert len(outcome.server.of("response.create")) == 1


def test_a_change_that_was_cut_short_is_finished_by_a_repeat(shop: Shop) -> None:
    shop.play(plain, 20)
    shop.ledger.request(ORDERS["4417"], MASTERCARD, "an earlier session", "c0")  # and there it was killed
    assert [payment.card for payment in shop.provider.paid] == [VISA]

    async def script(server: Server) -> None:
        await server.greet()
        await hold(server, MASTERCARD)

    shop.play(script, 8)
    assert [payment.card for payment in shop.provider.paid] == [MASTERCARD]
    assert (shop.row.card, shop.row.accepted) == (MASTERCARD, True)


@pytest.mark.parametrize("cancels", [True, False])
def test_another_call_changes_the_card_meanwhile(shop: Shop, cancels: bool) -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await hold(server)
        await asyncio.sleep(1)
        shop.ledger.request(ORDERS["4417"], MASTERCARD, "another session", "c0")
        if cancels:
            await shop.provider.cancel("R-4417", keep=MASTERCARD)

    outcome = shop.play(script, 8)
    [(_, output)] = outcome.outputs
    assert output["status"] == "superseded"
    assert len(outcome.server.of("response.create")) == 1  # there is no other output that will bring a reply
    assert shop.provider.paid == []  # that is for the other call to do
    assert (shop.row.card, shop.row.accepted) == (MASTERCARD, False)


def test_a_submission_cancelled_by_a_call_that_was_overtaken_is_made_again(shop: Shop) -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await hold(server)
        await asyncio.sleep(1)
        await shop.provider.cancel("R-4417", keep=MASTERCARD)

    outcome = shop.play(script, 12)
    assert outcome.outputs[0][1]["status"] == "refunded"
    assert [payment.card for payment in shop.provider.paid] == [VISA]


def test_a_submission_that_is_cancelled_again_and_again_is_not_confirmed(shop: Shop) -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await hold(server)
        while True:
            await asyncio.sleep(1)
            await shop.provider.cancel("R-4417", keep=MASTERCARD)

    outcome = shop.play(script, 12)
    assert outcome.outputs[0][1]["status"] == "not_confirmed"
    assert shop.provider.paid == []


def test_a_settled_refund_stays_where_it_is(shop: Shop) -> None:
    class Settled(Ledger):
        def request(self, *args: Any) -> Any:
            decision = super().request(*args)
            with closing(sqlite3.connect(self.path)) as db, db:
                db.execute("UPDATE refunds SET status = 'settled' WHERE accepted")
            return decision

    shop.ledger = Settled(shop.ledger.path)

    async def script(server: Server) -> None:
        await plain_until_asked(server)
        await reply(server, DONE, "r2")
        await hold(server, call_id="c2", response="r3")
        await result(server, 2)
        await hold(server, MASTERCARD, "c3", "r4")
        await result(server, 3)

    outcome = shop.play(script, 30)
    assert [output["status"] for _, output in outcome.outputs] == ["refunded", "already_refunded", "settled"]
    assert "cannot go to another card" in outcome.outputs[-1][1]["message"]
    assert [payment.card for payment in shop.provider.payments] == [VISA]


# Again


def test_a_second_call_of_the_tool_pays_nothing(shop: Shop) -> None:
    async def script(server: Server) -> None:
        await plain_until_asked(server)
        await reply(server, DONE, "r2")
        await hold(server, call_id="c2", response="r3")
        await result(server, 2)

    outcome = shop.play(script, 30)
    output = outcome.outputs[1][1]
    assert output["status"] == "already_refunded"
    assert "earlier on this call" in output["message"]
    assert len(shop.provider.payments) == 1


def test_two_calls_at_once_are_one_payment(shop: Shop) -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await ask(server, call_id="c1")
        await ask(server, call_id="c2")
        await server.done()

    outcome = shop.play(script, 10)
    assert [output["status"] for _, output in outcome.outputs] == ["refunded", "already_refunded"]
    assert len(shop.provider.payments) == 1
    assert len(outcome.server.of("response.create")) == 1


def test_the_next_day_it_was_on_an_earlier_call(shop: Shop) -> None:
    shop.ledger.request(ORDERS["4417"], VISA, "an earlier session", "c0")
    shop.ledger.accept("4417", VISA)
    outcome = shop.play(plain, 20)
    assert "on an earlier call" in outcome.outputs[0][1]["message"]
    assert shop.provider.payments == []
    assert shop.row.told


def test_a_row_that_was_never_accepted_is_submitted_again(shop: Shop) -> None:
    shop.ledger.request(ORDERS["4417"], VISA, "an earlier session", "c0")
    outcome = shop.play(plain, 20)
    assert "confirmed" in outcome.outputs[0][1]["message"]
    assert len(shop.provider.payments) == 1
    assert shop.row.accepted


def test_a_refund_under_way_is_finished_though_the_caller_has_left(shop: Shop) -> None:
    outcome = shop.play(plain, 1.5)
    assert outcome.line.hung_up_us == 1_500_000
    assert (shop.row.accepted, shop.row.told) == (True, False)
    assert [row.order for row in shop.ledger.untold()] == ["4417"]
    assert "untold: R-4417 to 4242, send the caller a message" in outcome.notes
    assert outcome.leftovers == []


# Bad input: every call gets an output, nothing is paid twice, and what the caller is told is true


def refused(shop: Shop, arguments: str, tool: str = "issue_refund") -> dict[str, Any]:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.call(tool, arguments)
        await server.done()

    outcome = shop.play(script, 7)
    [(call_id, output)] = outcome.outputs
    assert call_id == "c1"
    assert len(outcome.server.of("response.create")) == 1
    assert shop.ledger.rows() == []
    assert shop.provider.payments == []
    return dict(output)


@pytest.mark.parametrize("arguments", ["", "{}", "[]", "null", '{"order_id": "4417", "ca', '"4417"', "{'order_id': 1}"])
def test_broken_arguments(shop: Shop, arguments: str) -> None:
    assert "issue_refund" in refused(shop, arguments)["error"]


@pytest.mark.parametrize("order", ["9999", "", "the skillet", None, True, 44.17, {}])
def test_unknown_order(shop: Shop, order: Any) -> None:
    error = refused(shop, json.dumps({"order_id": order, "card_last4": VISA, "say_while_working": "x"}))["error"]
    assert "Nothing was refunded" in error
    assert "order number" in error


@pytest.mark.parametrize("card", ["1234", "", "my Visa", None, -1, 42.5])
def test_unknown_card(shop: Shop, card: Any) -> None:
    error = refused(shop, json.dumps({"order_id": "4417", "card_last4": card, "say_while_working": "x"}))["error"]
    assert "Nothing was refunded" in error
    assert "8812" not in error  # the card is for the caller to say
    assert "4242" not in error


def test_unknown_tool(shop: Shop) -> None:
    assert "give_discount" in refused(shop, "{}", "give_discount")["error"]


@pytest.mark.parametrize(
    "said",
    [
        {"order_id": 4417, "card_last4": 4242},
        {"order_id": "forty-four seventeen", "card_last4": "forty-two forty-two"},
        {"order_id": "four four 17", "card_last4": "my Visa, four two four two"},
        {"amount": -50, "currency": "EUR"},
        {"amount_cents": 999_999, "cents": 1, "refund_id": "R-1"},
        {"say_while_working": ""},
    ],
)
def test_words_for_digits_are_read_and_amounts_ignored(shop: Shop, said: dict[str, Any]) -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await hold(server, **said)

    shop.play(script, 8)
    assert (shop.row.order, shop.row.refund_id, shop.row.cents, shop.row.card) == ("4417", "R-4417", 3200, VISA)
    assert [payment.cents for payment in shop.provider.payments] == [3200]


def test_provider_down(shop: Shop) -> None:
    shop.provider.failing = True

    async def script(server: Server) -> None:
        await plain_until_asked(server)
        await reply(server, "I cannot confirm it yet.", "r2")

    outcome = shop.play(script, 12)
    output = outcome.outputs[0][1]
    assert output["status"] == "not_confirmed"
    assert "do not say that it is done" in output["message"]
    assert (shop.row.accepted, shop.row.told) == (False, False)
    assert [row.order for row in shop.ledger.unaccepted()] == ["4417"]
    assert reminders(outcome) == []

    shop.provider.failing = False
    assert shop.play(plain, 20).outputs[0][1]["status"] == "already_refunded"
    assert (shop.row.accepted, shop.row.told) == (True, True)
    assert len(shop.provider.payments) == 1


def unusable(shop: Shop, ledger: Ledger, script: Script = plain) -> tuple[Outcome, dict[str, Any]]:
    shop.ledger = ledger
    outcome = shop.play(script, 20)
    [(_, output)] = outcome.outputs
    assert len(outcome.server.of("response.create")) == 1
    return outcome, output


def test_locked_ledger(shop: Shop) -> None:
    with closing(sqlite3.connect(shop.ledger.path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        outcome, output = unusable(shop, shop.ledger)
    assert output["status"] == "not_refunded"
    assert "no refund was made" in output["error"]
    assert "locked" not in json.dumps(output)
    assert "another process holds it" in outcome.notes
    assert shop.provider.payments == []


def test_read_only_ledger(shop: Shop) -> None:
    shop.ledger.request(ORDERS["4417"], VISA, "an earlier session", "c0")
    _, output = unusable(shop, ReadOnly(shop.ledger.path))
    assert output["status"] == "not_refunded"
    assert shop.provider.payments == []
    assert shop.row.call_ids == ("c0",)


class Failing(Ledger):
    """Cannot be written when it comes to one of the marks."""

    broken: str

    def accept(self, order: str, card: str) -> bool:
        return self._fail("accept") or super().accept(order, card)

    def told(self, order: str, card: str) -> bool:
        return self._fail("told") or super().told(order, card)

    def _fail(self, name: str) -> bool:
        if self.broken == name:
            raise LedgerError("the disk is full")
        return False


def test_a_payment_that_cannot_be_noted_is_not_called_done(shop: Shop) -> None:
    failing = Failing(shop.ledger.path)
    failing.broken = "accept"
    _, output = unusable(shop, failing)
    assert output["status"] == "not_confirmed"
    assert "not confirmed yet" in output["error"]
    assert (shop.row.accepted, shop.row.told) == (False, False)

    failing.broken = ""
    shop.play(plain, 20)
    assert (shop.row.accepted, shop.row.told) == (True, True)
    assert len(shop.provider.payments) == 1


def test_news_that_cannot_be_noted_stays_untold(shop: Shop) -> None:
    failing = Failing(shop.ledger.path)
    failing.broken = "told"
    outcome, output = unusable(shop, failing)
    assert output["status"] == "refunded"
    assert (shop.row.accepted, shop.row.told) == (True, False)
    assert "told, but not written down: the disk is full" in outcome.notes


@pytest.mark.parametrize("broken", [{"item": None}, {"item": {"type": "function_call"}}, {"response_id": "r1"}])
@pytest.mark.parametrize("kind", ["response.output_item.added", "response.output_audio_transcript.done"])
def test_garbled_events_do_not_end_the_call(shop: Shop, kind: str, broken: dict[str, Any]) -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.send(kind, **broken)
        await hold(server)
        await result(server)
        await server.until("response.create")
        await reply(server, DONE, "r2")

    shop.play(script, 20)
    assert shop.row.told
