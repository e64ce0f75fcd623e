"""`dlprof scenarios`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from dlprof.shipped import scenarios
from tests.unit.published import problems
from tests.unit.runs import dlprof


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("words", [(), ("list",)])
def test_all_are_listed_with_what_they_train(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """Sets at the end."""
    assert dlprof("scenarios", *words) == 0

    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("mlp          The classic Keras MLP") for line in lines)
    assert lines[-1].split() == ["all", "all", "of", "them"]


def test_a_copy_makes_the_names_of_the_documentation(capsys: pytest.CaptureFixture[str]) -> None:
    """The script is printed; what to type next is said beside."""
    assert dlprof("scenarios", "copy", "mlp") == 0

    told = capsys.readouterr()
    assert told.out == "scenarios/mlp.py\n"
    assert "next: dlprof trace scenarios/mlp.py --backend mxnet" in told.err
    assert Path("scenarios/workload.py").is_file()


def test_a_second_copy_says_that_it_was_there(capsys: pytest.CaptureFixture[str]) -> None:
    """And ends with 0."""
    dlprof("scenarios", "copy", "faults", "mine")
    assert dlprof("scenarios", "copy", "faults", "mine") == 0

    told = capsys.readouterr()
    assert told.out == "mine/faults\n" * 2
    assert "dlprof: it was there already: " in told.err


def test_a_copy_of_all_says_what_an_installed_dlprof_lacks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is said where the sources have it."""
    dlprof("scenarios", "copy", "all", "mine")
    whole = capsys.readouterr().err
    shutil.rmtree("mine/outside")
    monkeypatch.setattr(scenarios, "_PLACES", (Path("mine"),))
    dlprof("scenarios", "copy", "all", "copies")

    sentence = "dlprof: without the set outside, which comes with the sources of dlprof, not with an installed one"
    assert sentence not in whole
    assert capsys.readouterr().err.splitlines()[1:] == [sentence]


def test_json_names_the_files(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a list, and of a copy."""
    dlprof("scenarios", "list", "--json")
    listed = json.loads(capsys.readouterr().out)
    dlprof("scenarios", "copy", "transformer", "--json")
    copied = json.loads(capsys.readouterr().out)
    assert problems("scenarios", listed) == problems("scenarios", copied) == []

    assert (listed["schema"], [one["name"] for one in listed["scenarios"]][:2]) == (
        "dlprof.scenarios/1",
        ["cifar", "cnn"],
    )
    assert copied == {
        "schema": "dlprof.scenarios/1",
        "script": "scenarios/transformer.py",
        "files": ["scenarios/inputs.py", "scenarios/transformer.py", "scenarios/workload.py"],
        "written": 3,
    }


def test_a_scenario_that_there_is_not_ends_with_66(capsys: pytest.CaptureFixture[str]) -> None:
    """As all that is not there."""
    assert dlprof("scenarios", "copy", "nothing") == 66

    assert "try: dlprof scenarios list" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("script", "hint"),
    [
        ("scenarios/mlp.py", "dlprof scenarios copy mlp"),
        ("work/scenarios/mlp.py", "dlprof scenarios copy mlp work/scenarios"),
        ("mlp", "dlprof scenarios copy mlp"),
        ("other.py", "check the path; it is taken from the current folder"),
    ],
)
def test_a_scenario_that_was_not_copied_yet_is_no_riddle(
    script: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """`dlprof trace` says how to get it."""
    assert dlprof("trace", script) == 66

    assert capsys.readouterr().err.endswith(f"  try: {hint}\n")
