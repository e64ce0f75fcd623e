"""Truth files."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.errors import NoInputError, UsageError
from dlprof.trials.exam import truths
from tests.unit.trials.exam.cases import GOOD, truth


def test_a_truth_file_gives_a_case_per_backend(tmp_path: Path) -> None:
    """With what plants the cause."""
    found = truths.load(truth(tmp_path, GOOD))

    assert [one.backend for one in found] == ["torch", "jax"]
    assert (found[0].fault_arguments, found[0].beside) == (("--slow",), 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace("slow-callback", "slow-coffee"), "there is no finding slow-coffee"),
        (GOOD.replace("script", "skript"), "unknown key skript"),
        (GOOD.replace("torch", "torch9"), "torch9"),
        ("slug = ", "cannot be read"),
    ],
)
def test_a_wrong_truth_file_is_refused(tmp_path: Path, text: str, said: str) -> None:
    """The sentence says what is wrong."""
    with pytest.raises(UsageError, match=said):
        truths.load(truth(tmp_path, text))


def test_a_folder_without_truth_is_refused(tmp_path: Path) -> None:
    """There is nothing to examine."""
    with pytest.raises(NoInputError, match="no truth file"):
        truths.load(tmp_path)


def test_the_truth_of_the_project_can_be_read(scenarios: Path) -> None:
    """At least 25 planted causes, over four backends."""
    found = truths.load(scenarios / "faults")

    assert len({one.name for one in found}) >= 25
    assert {one.backend for one in found} >= {"tensorflow", "jax", "torch", "mxnet"}
