"""The refund desk's calls as text: the words that were heard, and the money that moved, side by side."""

from pathlib import Path
from typing import Any

import pytest

from clients.refund import RefundDesk
from simrt.scripts.refund import REFUND

from .play import play
from .test_scripts import WRONG

WRONG_DESKS = [pytest.param(*wrong[:3], id=f"{wrong[0].__name__}-{wrong[1]}") for wrong in WRONG]


@pytest.mark.parametrize("script", REFUND)
def test_the_right_desk_is_as_it_was_reviewed(script: str, tmp_path: Path, simrt_snapshot: Any) -> None:
    assert play(tmp_path, script).reviewed == simrt_snapshot


@pytest.mark.parametrize(("desk", "script", "faults"), WRONG_DESKS)
def test_the_wrong_desks_are_as_they_were_reviewed(
    desk: type[RefundDesk], script: str, faults: tuple[str, ...], tmp_path: Path, simrt_snapshot: Any
) -> None:
    assert play(tmp_path, script, desk, faults).reviewed == simrt_snapshot
