"""`dlprof compare`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from dlprof.store.run import Run
from tests.unit.report.html.pages import Elements
from tests.unit.runs import S, dlprof, fit_span, lasting, manifest, phases, trained


def slower(path: Path, import_s: float) -> Run:
    """A run whose import takes so long, and whose wall time is longer by that."""
    wall = int((8 + import_s) * S)
    told = manifest(process={"pid": 42, "exit_code": 0, "signal": None, "wall_ns": wall})
    rows = [
        {"phase": "import", "parent": None, "dur_ns": int(import_s * S), "count": 1},
        *phases(fit_steps=5, fit_callbacks=1, teardown=2),
    ]
    return trained(path, told, phases=rows)


def test_the_command_takes_runs_repeats_and_several_sides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder of runs is one side; commas join runs."""
    for n in range(3):
        slower(tmp_path / "slow" / f"{n}", 4 + n / 10)
        slower(tmp_path / "fast" / f"{n}", 2 + n / 10)
    fast = ",".join(str(tmp_path / "fast" / f"{n}") for n in range(3))

    assert dlprof("compare", str(tmp_path / "slow"), fast, str(tmp_path / "slow" / "0"), "--json") == 0

    content = json.loads(capsys.readouterr().out)
    assert content["a"]["runs"] == ["0", "1", "2"]
    assert content["gap_ci_ns"] is not None
    assert [one["b"]["runs"] for one in content["more"]] == [["0"]]


def test_the_text_begins_with_what_makes_a_comparison_unfair(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Then come the figures all the same."""
    trained(tmp_path / "a")
    trained(tmp_path / "b", spans=[fit_span(batch_size=64)])

    assert dlprof("compare", str(tmp_path / "a"), str(tmp_path / "b"), "--plain") == 0

    out = capsys.readouterr().out
    assert out.index("Not comparable, because") < out.index("Where the gap comes from")
    assert "- the batch sizes differ: 128 and 64" in out


@pytest.fixture
def three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs `one`, `two` and `three`, in the order of their times, below dlprof_runs/."""
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("one", "two", "three"), 1):
        trained(tmp_path / "dlprof_runs" / name)
        os.utime(tmp_path / "dlprof_runs" / name / "manifest.json", (number, number))


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    ("words", "sides"),
    [
        ([], ("two", "three")),
        (["one"], ("one", "three")),
        (["last"], ("two", "three")),
        (["three"], ("two", "three")),
        (["last~2"], ("last~2", "three")),
        (["dlprof_runs/three"], ("two", "three")),
    ],
)
def test_what_is_compared_with_the_last_run_is_said(
    words: list[str], sides: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The run that is named, or the one before."""
    assert dlprof("compare", *words, "--json") == 0

    said = capsys.readouterr()
    assert said.err == f"dlprof: comparing {sides[0]} (A) with the last run, {sides[1]} (B)\n"
    assert json.loads(said.out)["b"]["runs"] == ["three"]


def test_there_must_be_two_runs_to_compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run is not compared with itself."""
    monkeypatch.chdir(tmp_path)
    trained(tmp_path / "dlprof_runs" / "only")

    assert dlprof("compare") == 66


def test_compare_writes_a_page_of_two_sides_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A third one has no place in it."""
    for name in "abc":
        trained(tmp_path / name)
    assert dlprof("compare", tmp_path / "a", tmp_path / "b", "--html", tmp_path / "p.html") == 0
    assert dlprof("compare", *(tmp_path / name for name in "abc"), "--html", tmp_path / "p.html") == 64
    assert "compares two sides" in capsys.readouterr().err


def test_a_comparison_of_runs_without_phases_says_what_it_can(tmp_path: Path) -> None:
    """Nothing can be diagnosed then."""
    for name, wall in (("a", 9), ("b", 3)):
        run = trained(tmp_path / name, phases=[], phase_intervals=[])
        run.folder.write_manifest(lasting(run, wall * S).manifest)
    assert dlprof("compare", tmp_path / "a", tmp_path / "b", "--html", tmp_path / "p.html") == 0
    assert "Not diagnosed, because" in Elements((tmp_path / "p.html").read_text()).text
