"""`simrt show`: a cassette for people."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simrt.cli.console import CASSETTE_HELP, find_cassette, print_json

if TYPE_CHECKING:
    from simrt.cassette.header import Header
    from simrt.cassette.script import Script
    from simrt.cassette.store import Cassette
    from simrt.delegations import Delegation
    from simrt.replay.score import Score
    from simrt.trace import Opening, Trace


def show_command(
    cassette: Annotated[str, typer.Argument(metavar="CASSETTE", help=CASSETTE_HELP)],
    every: Annotated[bool, typer.Option("--all", help="Each audio frame and delta in a line of its own.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Show what is on a cassette: where it came from, its frames, its turns and replies."""
    from simrt.cassette.store import load

    path = find_cassette(cassette)
    loaded = load(path)
    if as_json:
        print_json(as_dict(loaded, every))
        return
    typer.echo(f"{path}\n")
    for line in text(loaded, every):
        typer.echo(line)


def text(cassette: "Cassette", every: bool = False) -> Iterator[str]:
    """The lines that are shown."""
    from simrt.replay.build import score_of

    yield from _header(cassette.header)
    if cassette.script is not None:
        yield from _script(cassette.script)
        return
    yield from _opening(cassette.trace.opening)
    yield from _frames(cassette.trace, cassette.header.dialect, every)
    yield from _score(score_of(cassette))
    if cassette.header.dialect == "live":
        yield from _delegations(cassette.trace)


def _header(header: "Header") -> Iterator[str]:
    yield _row("made", f"{header.how}, {header.created or 'at an unknown time'}")
    yield _row("origin", header.origin or "unknown")
    yield _row("protocol", f"{header.dialect}, {header.profile}")
    yield _row("times", header.timing)
    if header.how != "authored":
        yield _row("audio", f"caller {header.caller_audio}, agent {header.agent_audio}")
        yield _row("words", ", ".join(f"{len(words)} {side}" for side, words in header.words.items()) or "not placed")
    yield _row("redacted", ", ".join(header.redacted) or "nothing")
    for note in header.notes:
        yield _row("note", note)
    yield _row("digest", header.digest or "none")


def _row(name: str, value: str) -> str:
    return f"{name:<10}{value}"


def _opening(opening: "Opening") -> Iterator[str]:
    yield f"\nopening   {opening.url or '(not recorded)'} -> {opening.status}"
    for name, value in opening.headers:
        yield f"  > {name}: {value}"
    if opening.subprotocols:
        yield f"  > subprotocols: {', '.join(opening.subprotocols)}"
    for name, value in opening.response_headers:
        yield f"  < {name}: {value}"
    if opening.subprotocol:
        yield f"  < subprotocol: {opening.subprotocol}"
    if opening.response_body:
        yield f"  < {opening.response_body}"


def _frames(trace: "Trace", speaks: str, every: bool) -> Iterator[str]:
    from simrt.cli.show_rows import rows

    lines = [(row.t_us, row.line()) for row in rows(trace, speaks, every=every)]
    lines.extend(
        (mark.t_us, f"{mark.t_us / 1_000_000:>9.3f}  mark    {mark.kind} {mark.detail or ''}".rstrip()[:200])
        for mark in trace.marks
    )
    yield f"\n{'seconds':>9}  from    frame"
    yield from (line for _, line in sorted(lines, key=lambda entry: entry[0]))
    closing = trace.closing
    if closing is None:
        yield f"{'':>9}  its end is not known"
    else:
        reason = f" {closing.reason}" if closing.reason else ""
        yield f"{closing.t_us / 1_000_000:>9.3f}  {closing.by:<7} closes {closing.code}{reason}"


def _score(score: "Score") -> Iterator[str]:
    yield "\ncaller turns"
    for turn in score.turns:
        length = "no audio" if turn.samples is None else f"{len(turn.samples) / 24:.0f} ms"
        said = "" if turn.said_us is None else f"at {turn.said_us / 1_000_000:.3f}"
        yield f"  {turn.index!s:<9} {said:<12} {length:>9}  {turn.text or '(no transcript)'}"
    if not score.turns:
        yield "  none"
    yield "\nreplies"
    for reply in score.replies:
        yield f"  {reply.index!s:<9} {'':<12} {reply.audio_us / 1000:>6.0f} ms  {reply.text or '(no transcript)'}"
    if not score.replies:
        yield "  none"


def _delegations(trace: "Trace") -> Iterator[str]:
    from simrt.cli.show_rows import cut
    from simrt.delegations import delegations

    found = delegations(trace)
    yield "\ndelegations"
    for number, delegation in enumerate(found, 1):
        if delegation.id:
            yield f"  {number!s:<9} {f'at {delegation.offset_ms} ms':<12} {delegation.outcome}"
        else:
            yield "  without a delegation"
        for append in delegation.appends:
            sent = f"{append.sent_us / 1_000_000:.3f}"
            yield f"  {sent:>9} {append.kind:<12} {append.fate}  {cut(append.content)}"
    if not found:
        yield "  none"


_ON = {
    "turn": "after the turn",
    "create": "on response.create",
    "start": "first of all",
    "commentary": "on a commentary",
}


def _script(script: "Script") -> Iterator[str]:
    import msgspec

    from simrt.cassette.script import Delegate, Turn

    pacing = ", ".join(f"{name} {value}" for name, value in msgspec.structs.asdict(script.pacing).items())
    yield _row("pacing", pacing)
    yield "\nscript"
    for step in script.steps:
        if isinstance(step, Delegate):
            yield "  agent   delegates the turn"
            continue
        length = "no audio" if step.samples is None else f"{len(step.samples) / 24:.0f} ms"
        if isinstance(step, Turn):
            yield f"  caller  {step.cue:<24} {length:>9}  {step.text or step.clip}"
            continue
        on = _ON[step.on]
        parts = [step.text] if step.text else []
        if step.tool is not None:
            spoken = f", speaks {step.tool.spoken}" if step.tool.spoken else ""
            answer = "" if step.tool.answered else ", expects no output"
            parts.append(f"calls {step.tool.name}({', '.join(step.tool.arguments)}{spoken}{answer})")
        if not step.done:
            parts.append("its response.done never comes")
        yield f"  agent   {on:<24} {length:>9}  {'; '.join(parts)}"


def as_dict(cassette: "Cassette", every: bool = False) -> dict[str, Any]:
    """The same for programs: plain values. Audio is given by its length, with `every` as it stood on the wire."""
    import msgspec

    from simrt.cli.show_rows import pieces
    from simrt.delegations import delegations
    from simrt.replay.build import score_of

    frames = []
    for piece in pieces(cassette.trace, cassette.header.dialect):
        frame = piece.frame
        entry: dict[str, Any] = {"t_ms": frame.t_us / 1000, "from": frame.sender}
        if piece.event is None:
            entry["binary" if isinstance(frame.payload, bytes) else "text"] = frame.payload
        else:
            entry["event"] = frame.event() if every else piece.event
        if piece.audio_us is not None:
            entry["audio_ms"] = piece.audio_us / 1000
        if frame.synthetic:
            entry["synthetic"] = True
        frames.append(entry)
    score = score_of(cassette)
    trace = cassette.trace
    script = cassette.script
    turns = [
        {"turn": turn.index, "text": turn.text, "audio_ms": None if turn.samples is None else len(turn.samples) / 24}
        for turn in score.turns
    ]
    replies = [{"reply": r.index, "text": r.text, "audio_ms": r.audio_us / 1000} for r in score.replies]
    shown = {
        "path": str(cassette.path),
        "header": cassette.header,
        "opening": trace.opening,
        "frames": frames,
        "marks": trace.marks,
        "closing": trace.closing,
        "turns": turns,
        "replies": replies,
    }
    if cassette.header.dialect == "live":
        shown["delegations"] = [_delegation(each) for each in delegations(trace)]
    if script is not None:
        shown["script"] = {"pacing": script.pacing, "steps": [_without_samples(step) for step in script.steps]}
    plain: dict[str, Any] = msgspec.to_builtins(shown)
    return plain


def _delegation(delegation: "Delegation") -> dict[str, Any]:
    appends = [
        {
            "kind": append.kind,
            "content": append.content,
            "sent_ms": append.sent_us / 1000,
            "placed_ms": None if append.start_ms is None else [append.start_ms, append.end_ms],
            "acked_ms": None if append.acked_us is None else append.acked_us / 1000,
            "error": append.error,
        }
        for append in delegation.appends
    ]
    if not delegation.id:
        return {"id": None, "appends": appends}
    return {"id": delegation.id, "offset_ms": delegation.offset_ms, "outcome": delegation.outcome, "appends": appends}


def _without_samples(step: Any) -> Any:
    import msgspec

    return msgspec.structs.replace(step, samples=None) if hasattr(step, "samples") else step
