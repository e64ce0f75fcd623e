"""The truth file of an outside exam."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.errors import NoInputError, UsageError
from dlprof.trials.outside import problems
from tests.unit.trials.outside.cases import folder, problem


def test_a_truth_file_gives_its_problems_by_name(tmp_path: Path) -> None:
    """With the lines to blame, and what is not said left at its default."""
    found = problems.load(folder(tmp_path, b={}, a={"held_out": True}))

    assert [one.name for one in found] == ["a", "b"]
    assert [one.truth.held_out for one in found] == [True, False]
    assert found[0].truth.lines == (7, 8)
    assert found[0].truth.true_of_fixed == ()


@pytest.mark.parametrize(
    ("only", "names"),
    [(["b"], ["b"]), (["mxnet"], ["c"]), (["held-out"], ["a"]), (["open"], ["b", "c"]), (["a", "mxnet"], ["a", "c"])],
)
def test_problems_are_chosen_by_name_backend_or_half(tmp_path: Path, only: list[str], names: list[str]) -> None:
    """Several words choose what any of them names."""
    made = folder(tmp_path, a={"held_out": True}, b={}, c={"backend": "mxnet"})

    assert [one.name for one in problems.load(made, only=only)] == names


def test_a_word_that_names_nothing_is_refused(tmp_path: Path) -> None:
    """Even beside one that does: a slip of the pen must not pass for a smaller exam."""
    with pytest.raises(UsageError, match="Nothing in the exam is called bb"):
        problems.load(folder(tmp_path, a={}, b={}), only=["b", "bb"])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"accept": "io-bound"}, "accept"),
        ({"keras": "yes"}, "keras"),
        ({"backend": "torch9"}, "torch9"),
    ],
)
def test_a_wrong_truth_file_is_refused(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    """The sentence says where it is wrong."""
    with pytest.raises(UsageError, match=words):
        problems.load(folder(tmp_path, a=changes))


def test_a_folder_without_truth_or_script_is_refused(tmp_path: Path) -> None:
    """Nothing is run before all scripts are there."""
    with pytest.raises(NoInputError, match="no truth.json"):
        problems.load(tmp_path)

    made = folder(tmp_path, a={})
    (made / "a" / "fixed.py").unlink()
    with pytest.raises(NoInputError, match=r"no fixed.py of the problem a"):
        problems.load(made)


def test_a_changed_script_has_another_place(tmp_path: Path) -> None:
    """So that its runs are made again."""
    made = folder(tmp_path, a={})
    before = problems.load(made)[0].place
    (made / "a" / "buggy.py").write_text("print(2)\n")

    assert problems.load(made)[0].place != before


@pytest.mark.parametrize(
    ("dlperf", "group"),
    [
        ("API: inefficient API usage (also: not using batch API)", "API: inefficient API usage"),
        ("Model: improper hyper parameter", "Model: improper hyper parameter"),
        ("(not in DLPerf; API: not using batch API)", "not in the study"),
        (None, "not in the study"),
    ],
)
def test_a_root_cause_goes_by_its_first_words(dlperf: str | None, group: str) -> None:
    """What is beside it in brackets does not make a group of its own."""
    assert problem(dlperf=dlperf).truth.root_cause == group
