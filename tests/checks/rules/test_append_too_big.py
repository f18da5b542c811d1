import pytest

from tests.checks.talk import Talk


@pytest.mark.parametrize(("mib", "flagged"), [(16, True), (14.9, False)])
def test_an_append_beyond_the_limit(mib: float, flagged: bool) -> None:
    found = Talk().ready().append(500, bytes(int(mib * 1024 * 1024))).findings("PRO311")
    assert [(finding.t_ms, finding.frame) for finding in found] == ([(500, 3)] if flagged else [])
