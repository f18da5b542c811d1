"""The shipped clients that are right have no findings; the one that hangs up too soon is found out from nothing."""

import pytest

from simrt.client_loader import cassettes_of, load_client
from simrt.explore import Job
from simrt.explore.executors import LocalCrew
from simrt.explore.explore import Search, explore

RIGHT = ("clients.call:Call", "clients.refund:RefundDesk", "clients.parcel:Parcel")


def search(client: str, runs: int, seed: int) -> Search:
    with LocalCrew(2) as crew:
        return explore(Job(client, ""), cassettes_of(load_client(client), client), crew, runs=runs, seed=seed)


@pytest.mark.parametrize("client", RIGHT)
def test_a_right_client_has_no_findings(client: str) -> None:
    found = search(client, 25, 0)
    assert found.failures == []
    assert sum(found.statuses.values()) == 25
    assert "broken" not in found.statuses


@pytest.mark.search
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("client", RIGHT)
def test_a_right_client_has_no_findings_in_a_thousand_runs(client: str) -> None:
    assert search(client, 1000, 1).failures == []


def test_the_stall_that_cuts_the_goodbye_is_found_from_the_plain_cassette() -> None:
    found = search("clients.call:DrainCall", 12, 0)
    failure = next(failure for failure in found.failures if failure.code == "END401")
    (fault,) = failure.plan
    assert fault.startswith("stall:")
    assert failure.found_in == 2
    assert failure.same
