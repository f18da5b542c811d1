"""The parcel service's calls as text: what was said, heard and delegated, and the order book beside it."""

from pathlib import Path
from typing import Any

import pytest

from clients import parcel
from clients.parcel import Parcel
from simrt.scripts.parcel import PARCEL

from .play import play, right

WRONG = [
    (parcel.BlockingParcel, "slow-lookup"),
    (parcel.GatedParcel, "slow-lookup"),
    (parcel.AppendedParcel, "interrupted-result"),
    (parcel.DeltaParcel, "cancel-yes-then-no"),
    (parcel.ForgetfulParcel, "late-result"),
    (parcel.HastyParcel, "one-more"),
    (parcel.LoudParcel, "slow-lookup"),
]


@pytest.mark.parametrize("script", PARCEL)
def test_the_right_one_is_as_it_was_reviewed(script: str, simrt_snapshot: Any) -> None:
    assert right(script).reviewed == simrt_snapshot


@pytest.mark.parametrize(("desk", "script"), [pytest.param(*wrong, id=wrong[0].__name__) for wrong in WRONG])
def test_the_wrong_ones_are_as_they_were_reviewed(
    desk: type[Parcel], script: str, tmp_path: Path, simrt_snapshot: Any
) -> None:
    assert play(tmp_path, script, desk).reviewed == simrt_snapshot
