"""A call's result for people: transcript, turns, replies, verdict, log."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from simrt.cli.console import scrubbed, seconds
from simrt.cli.headline import Headline, headline, of_one, played
from simrt.result import CallResult


def plain_table(*columns: str, right: Sequence[str] = (), title: str | None = None) -> Table:
    """A table of that shape; the columns in `right` are set to the right."""
    table = Table(title=title, title_justify="left")
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left")
    return table


def print_result(result: CallResult, out: Console) -> None:
    """Everything about one call."""
    out.print(result.transcript, soft_wrap=True)
    out.print()
    out.print(_turns(result))
    out.print(_replies(result))
    for line in of_one(headline(result)):
        out.print(line, soft_wrap=True)
    end = {"cap": "cut off at the cap"}.get(result.closed_by, f"closed by the {result.closed_by}")
    if result.line is not None and result.line.hung_up_by == "caller":
        end = f"the caller hung up, {end}"
    out.print(f"ended:            {end}, {seconds(result.virtual_ms)} after pickup", soft_wrap=True)
    out.print(f"verdict:          {indented(str(result.verdict))}", soft_wrap=True)
    for number, finding in enumerate(result.findings):
        out.print(f"{'findings:' if number == 0 else '':18}{finding}", soft_wrap=True)
    for number, line in enumerate(result.log):
        out.print(f"{'log:' if number == 0 else '':18}{scrubbed(line)}", soft_wrap=True)


def indented(text: str, width: int = 18) -> str:
    """Text whose further lines stand under its first."""
    return text.replace("\n", "\n" + " " * width)


def _turns(result: CallResult) -> Table:
    table = plain_table("caller", "said at", "words", "lost", "the server heard", right=("said at", "words", "lost"))
    for turn in result.caller_turns:
        heard = turn.transcript or "(nothing)"
        table.add_row(turn.clip, seconds(turn.said_ms), str(turn.words), str(turn.words_lost), heard)
    return table


def _replies(result: CallResult) -> Table:
    right = ("from", "audio", "sent", "heard")
    table = plain_table("reply", *right, "cut off", "the caller heard", right=right)
    for reply in result.replies:
        times = [seconds(ms) for ms in (reply.from_ms, reply.audio_ms, reply.sent_ms, reply.heard_ms)]
        table.add_row(str(reply.reply), *times, "yes" if reply.cut_off else "no", reply.heard_text or "(nothing)")
    return table


def runs_table(rows: Sequence[tuple[int, Headline | None, CallResult | None]]) -> Table:
    """One line a run: seed, its figures, how it ended."""
    columns = ("seed", "first words lost", "session ready", "goodbye played", "findings", "closed by")
    table = plain_table(*columns, right=columns[:4])
    for seed, head, result in rows:
        if head is None or result is None:
            table.add_row(str(seed), "", "", "", "", "no call")
            continue
        lost = "" if head.words is None else f"{head.words_lost} of {head.words}"
        codes = ", ".join(dict.fromkeys(found.code for found in result.findings if found.severity == "error"))
        table.add_row(str(seed), lost, seconds(head.ready_ms), played(head), codes, result.closed_by)
    return table
