"""Counting tokens, for the limits that the Live protocol states in them.

The encoding is o200k_base, which KugelAudio names for its limits and OpenAI's newer models use. The counter is the
package toktok-rs: its wheel has the table inside, so nothing is fetched at run time (tiktoken would fetch it). Loading
it takes some tenths of a second, and is put off until a text is long enough to matter.
"""

ENCODING = "o200k_base"


def token_count(text: str) -> int:
    """The tokens of a text; what looks like a special token counts as the plain text that it is."""
    import toktok

    counts: list[int] = toktok.batch_count([text.encode(errors="replace").decode()], ENCODING, threads=1)
    return counts[0]


def exceeds(texts: list[str], limit: int) -> int | None:
    """How many tokens the texts have together if that is more than `limit`, else None.

    A token is at least one byte long, so texts of up to `limit` bytes need no counting.
    """
    if sum(map(len, texts)) * 4 <= limit or sum(len(text.encode(errors="replace")) for text in texts) <= limit:
        return None
    total = sum(map(token_count, texts))
    return total if total > limit else None
