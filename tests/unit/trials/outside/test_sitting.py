"""Sitting the outside exam, with runs that are made of literal rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from dlprof.errors import DlprofError
from dlprof.launch import environments
from dlprof.trials import again
from dlprof.trials.outside import problems, sitting
from tests.unit import runs
from tests.unit.runs import S
from tests.unit.trials.outside.cases import folder

Made = list[list[str]]


def nothing(_line: str) -> None:
    """Says nothing."""


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    """The commands that would make runs; fixed.py of `a` fails once, and all others last 10 s, 4 of them in saving."""
    commands: Made = []

    def run_into(place: Path, command: Sequence[str], _environment: Mapping[str, str]) -> None:
        commands.append(list(command))
        script = Path(command[5])
        if (script.parent.name, script.name) == ("a", "fixed.py") and commands.count(list(command)) == 1:
            place.mkdir(parents=True)
            raise DlprofError("the run ended with exit code 1: ValueError")
        runs.trained(place)

    monkeypatch.setattr(again, "run_into", run_into)
    return commands


def test_each_script_is_run_as_a_user_would(tmp_path: Path, made: Made) -> None:
    """Both scripts of a Keras problem on its backend, with the probes that a user gets."""
    (tmp_path / "p").mkdir()
    one = problems.load(folder(tmp_path / "p", b={}))

    sitting.sit(one, tmp_path / "out", nothing)

    assert [Path(command[5]).name for command in made] == ["buggy.py", "fixed.py"]
    assert made[0][6:8] == ["--backend", "torch"]
    assert not any(word.startswith("--probes") for word in made[0])


def test_what_failed_is_said_and_the_others_are_sat(tmp_path: Path, made: Made) -> None:
    """The reason names the script; the result so far is kept after each problem."""
    (tmp_path / "p").mkdir()
    both = problems.load(folder(tmp_path / "p", a={}, b={}))

    answers = sitting.sit(both, tmp_path / "out", nothing)

    assert [answer.failed for answer in answers] == ["fixed.py: the run ended with exit code 1: ValueError", None]
    kept = json.loads((tmp_path / "out" / "outside.json").read_text())
    assert [one["name"] for one in kept["problems"]] == ["a", "b"]
    assert answers[1].buggy_ns == answers[1].fixed_ns == 10 * S


def test_runs_that_are_there_are_not_made_again(tmp_path: Path, made: Made) -> None:
    """Only the one that failed; with `restart` all."""
    (tmp_path / "p").mkdir()
    both = problems.load(folder(tmp_path / "p", a={}, b={}))
    sitting.sit(both, tmp_path / "out", nothing)
    del made[:1]  # keeps the failed attempt in the count, so that the second one goes well

    again_made = sitting.sit(both, tmp_path / "out", nothing)

    assert [answer.failed for answer in again_made] == [None, None]
    assert len(made) == 4
    sitting.sit(both, tmp_path / "out", nothing, restart=True)
    assert len(made) == 8


def test_a_script_that_knows_no_keras_takes_a_plain_interpreter(tmp_path: Path, made: Made) -> None:
    """A backend that is not installed is why a problem fails, not why the exam ends."""
    (tmp_path / "p").mkdir()
    own = problems.load(folder(tmp_path / "p", b={"keras": False, "backend": "mxnet"}))

    class Environment:
        path = Path("/envs/mxnet")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(environments, "path_of", lambda _name: Environment)
        sitting.sit(own, tmp_path / "out", nothing)

    assert made[0][6:8] == ["--python", "/envs/mxnet/bin/python"]
