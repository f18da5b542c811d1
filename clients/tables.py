"""Tables of plain characters, for snapshots and for the terminal."""

from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows under their heads, a line each."""
    lines = [heads, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rule = "+".join("-" * (width + 2) for width in widths)
    head, *body = (f"| {' | '.join(map(str.ljust, line, widths))} |" for line in lines)
    return "\n".join([f"+{rule}+", head, f"+{rule}+", *body, f"+{rule}+"])
