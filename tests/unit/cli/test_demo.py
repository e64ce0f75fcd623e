"""`dlprof demo`."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.unit.published import problems
from tests.unit.runs import dlprof


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder."""
    monkeypatch.chdir(tmp_path)


def test_the_demo_shows_the_answer_and_what_to_type_next(capsys: pytest.CaptureFixture[str]) -> None:
    """The slow run's report, and the sentence on the gap."""
    assert dlprof("demo") == 0

    text = capsys.readouterr().out
    assert text.startswith("Two stored runs of one script, scenarios/cnn.py ")
    assert re.search(r"^\$ dlprof report dlprof-demo/(mxnet|tensorflow)$", text, re.MULTILINE)
    assert re.search(r"(mxnet|tensorflow) took [\d.]+ s, (mxnet|tensorflow) [\d.]+ s: \w+ is [\d.]+ x\s+slower", text)
    assert text.splitlines()[-1].split() == [
        "dlprof",
        "trace",
        "YOUR_SCRIPT.py",
        "the",
        "same",
        "of",
        "your",
        "own",
        "training",
    ]


def test_the_folder_can_be_given_as_to_other_commands(capsys: pytest.CaptureFixture[str]) -> None:
    """With -o; twice is once too often."""
    assert dlprof("demo", "-o", "mine", "--json") == 0
    assert json.loads(capsys.readouterr().out)["folder"] == "mine"
    assert dlprof("demo", "mine", "-o", "other") == 64
    assert "Give the folder once: as DIR or with -o." in capsys.readouterr().err


@pytest.mark.slow
def test_what_it_says_to_type_works(capsys: pytest.CaptureFixture[str]) -> None:
    """Word by word; pages are written, not opened."""
    dlprof("demo", "--json")
    told = json.loads(capsys.readouterr().out)
    assert problems("demo", told) == []
    commands = [shlex.split(one["command"])[1:] for one in told["next"]]
    kept = [words for words in commands if words[0] != "trace"]

    assert told["schema"] == "dlprof.demo/1"
    assert sorted(told["runs"]) == ["dlprof-demo/mxnet", "dlprof-demo/tensorflow"]
    assert [words[0] for words in kept] == ["report", "compare", "diagnose", "view", "view"]
    assert [dlprof(*words, *(["--no-open"] if words[0] == "view" else [])) for words in kept] == [0] * 5


@pytest.mark.slow
def test_a_second_demo_is_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is in its way."""
    assert dlprof("demo") == 0
    first = capsys.readouterr().out
    assert dlprof("demo") == 0

    assert capsys.readouterr().out == first


def test_a_folder_of_the_users_own_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """With another one to try."""
    Path("mine").mkdir()
    Path("mine/file").write_text("x")

    assert dlprof("demo", "mine") == 73

    assert "mine is there, and is not the folder of the demo" in capsys.readouterr().err


@pytest.mark.parametrize("words", [("demo", "file/below"), ("scenarios", "copy", "mlp", "file/below")])
def test_a_folder_that_cannot_be_made_is_said_with_what_can_be_typed(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """There is no -o here."""
    Path("file").touch()

    assert dlprof(*words) == 73

    told = capsys.readouterr().err
    assert "Cannot write to file/below: not a directory." in told
    assert "OTHER_FOLDER" in told
