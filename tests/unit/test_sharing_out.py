"""Which tests stay on one worker."""

from __future__ import annotations

import pytest

from tests.sharing_out import group_of

HERE = "tests/unit/test_sharing_out.py"


@pytest.fixture(scope="session", params=["a", "b"])
def training(request: pytest.FixtureRequest) -> str:
    """Dear, and made for the session."""
    return str(request.param)


@pytest.fixture(scope="module")
def folder() -> str:
    """Made for the module."""
    return "x"


def test_what_shares_nothing_may_run_anywhere(request: pytest.FixtureRequest) -> None:
    """What a session has for all tests does not count."""
    assert group_of(request.node) == ""


@pytest.mark.usefixtures("folder")
def test_what_shares_something_of_its_module_stays_with_it(request: pytest.FixtureRequest) -> None:
    """With all tests that want it."""
    assert group_of(request.node) == HERE


@pytest.mark.usefixtures("folder")
def test_the_widest_fixture_decides_and_its_parameter(request: pytest.FixtureRequest, training: str) -> None:
    """A training on each of several backends is a group each."""
    assert group_of(request.node) == f"{HERE} training={training}"
