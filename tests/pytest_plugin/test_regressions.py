"""Files of `simrt explore --save` as tests."""

import pytest

from simrt.explore.regressions import save
from tests.explore.test_regressions import FOUND, changed

pytest_plugins = ["pytester"]


def test_a_regression_fails_while_the_client_is_wrong(project: pytest.Pytester) -> None:
    save(FOUND, project.path / "found")
    save(changed(client="clients.call:Call"), project.path / "found")
    result = project.runpytest()
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(
        [
            "*clients.call:DrainCall END401*",
            "END401 hung-up-mid-reply: clients.call:DrainCall on front-desk-short",
            "  faults: stall:at=1000ms",
            "  simrt call clients.call:DrainCall front-desk-short --fault stall:at=1000ms",
        ]
    )
    result.stdout.no_fnmatch_line("*run_job*")


def test_a_client_of_the_project_itself(project: pytest.Pytester) -> None:
    save(changed(client="clients_here:greeter", plan=()), project.path)
    project.runpytest().assert_outcomes(passed=1)


def test_other_names_by_the_ini_setting(project: pytest.Pytester) -> None:
    save(FOUND, project.path).rename(project.path / "goodbye.regression.json")
    project.runpytest().assert_outcomes()
    project.makeini("[pytest]\nsimrt_regressions = *.regression.json\n")
    project.runpytest().assert_outcomes(failed=1)


def test_a_file_that_is_none_is_an_error_of_its_own(project: pytest.Pytester) -> None:
    (project.path / "broken.simrt.json").write_text("{")
    save(changed(client="clients.call:Call"), project.path)
    result = project.runpytest("--continue-on-collection-errors")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*holds no regression of simrt explore*"])


def test_a_client_that_is_gone_is_said_plainly(project: pytest.Pytester) -> None:
    save(changed(client="nowhere:Gone"), project.path)
    result = project.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*there is no module nowhere*"])
