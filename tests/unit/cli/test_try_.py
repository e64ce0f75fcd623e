"""`dlprof try`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.store.run import Run
from dlprof.trials import again
from tests.unit import runs
from tests.unit.published import problems
from tests.unit.trials.diagnosed import sealed, timed


@pytest.fixture
def tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run whose trials take a second less with a remedy."""

    def once(_run: Run, place: Path, remedy: Any = None, *, probes: str) -> Run:
        return timed(place, 1 if remedy else 2)

    sealed(tmp_path)
    monkeypatch.setattr(again, "run_again", once)
    return tmp_path / "r"


def test_a_change_is_told_as_a_table(tried: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As it was, with it, the change, its interval, what was expected."""
    assert runs.dlprof("try", tried, "--set", "threads=1", "--repeat", "2", "--yes", "--plain") == 0

    out = capsys.readouterr().out
    assert "threads=1 in r  2 runs of each" in out
    row = next(line for line in out.splitlines() if "the run" in line)
    assert row.split()[4:] == ["10.0", "s", "9.00", "s", "-1.00", "s", "-10.0", "%", "-1.00", "s", "to", "-1.00", "s"]
    assert "nothing was expected beforehand: nothing that was measured tells what threads changes" in out
    assert "threads did not come to the training" in out


def test_json_has_every_figure(tried: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With null for what is not known."""
    assert runs.dlprof("try", tried, "--set", "env:A=1", "--repeat", "1", "--yes", "--json") == 0

    found = json.loads(capsys.readouterr().out)
    assert problems("try", found) == []
    assert (found["schema"], found["rounds"]) == ("dlprof.try/1", 1)
    (change,) = found["changes"]
    assert (change["settings"], change["environment"], change["taken"]) == ({}, {"A": "1"}, {})
    assert change["measures"][0] == {
        "name": "run_ns",
        "before": 10e9,
        "after": 9e9,
        "change": -1e9,
        "interval": None,
        "expected": None,
    }
    assert change["measures"][4]["before"] is None


def test_it_asks_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal to ask at, it wants --yes."""
    sealed(tmp_path)

    assert runs.dlprof("try", tmp_path / "r", "--set", "threads=1") == 64
    err = capsys.readouterr().err
    assert "to try: threads=1; the script runs 6 times, about 1.1 min" in err
    assert "try runs the script again, and there is no terminal to ask at" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [((), "Nothing is to be changed."), (("--set", "threads=1", "--repeat", "0"), "--repeat must lie between 1 and 100, not 0.")],
)  # fmt: skip
def test_what_cannot_be_tried_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    """Before anything runs."""
    sealed(tmp_path)

    assert runs.dlprof("try", tmp_path / "r", *words) == 64
    assert said in capsys.readouterr().err
