import subprocess
import sys

import pytest

from simrt.dialect.tokens import exceeds, token_count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("hello world", 2),
        ("Order 4711 shipped yesterday and arrives tomorrow.", 10),
        ("antidisestablishmentarianism", 6),
        ("日本語", 2),
        ("<|endoftext|>", 7),
    ],
)
def test_counts_are_those_of_o200k_base(text: str, count: int) -> None:
    """As OpenAI's own tokenizer counts them. What only looks like a special token is text."""
    assert token_count(text) == count


def test_half_of_a_surrogate_pair_is_counted_and_no_failure() -> None:
    assert token_count("a\ud83d b") == token_count("a? b")


def test_a_limit_is_kept_to_the_token() -> None:
    text = " word" * 500
    assert exceeds([text], 500) is None
    assert exceeds([text + " word"], 500) == 501
    assert exceeds([text[:1000], text[1000:] + " word"], 500) == 501


def test_a_long_run_of_one_letter_is_counted_at_once() -> None:
    """Some counters take the square of its length."""
    assert exceeds(["a" * 1_000_000], 500) == 125_000


def test_nothing_is_loaded_for_texts_that_cannot_be_too_long() -> None:
    code = (
        "import sys\n"
        "import simrt.dialect.live_rules\n"
        "from simrt.dialect.tokens import exceeds\n"
        "assert exceeds(['x' * 500], 500) is None\n"
        "assert exceeds(['\u00e9' * 250], 500) is None\n"
        "assert 'toktok' not in sys.modules\n"
        "assert exceeds(['x' * 501], 500) is None\n"
        "assert 'toktok' in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
