"""`dlprof memory`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.analysis.memory_runs import MB, allocated, over_training, stood
from tests.unit.runs import dlprof, trained

KEYS = ["schema", "peak_bytes", "peak_at", "phases", "owners", "growth"]


def leaking(path: Path) -> Path:
    """A run that leaks 20 kB a step, with a layer of 5 MB."""
    owner = {"model": 1, "layer": "dense", "kind": "parameters", "bytes": 5 * MB, "how": "exact", "count": 2}
    own = [(100 + n) * MB for n in range(100)]
    return over_training(own, path, memory_owners=[owner], **stood(2, 8, 30)).folder.path


def test_json_keeps_the_contract(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`dlprof.memory/1`, see docs/json.md."""
    assert dlprof("memory", leaking(tmp_path / "r"), "--json") == 0

    told = json.loads(capsys.readouterr().out)
    assert list(told)[:6] == KEYS
    assert (told["schema"], told["peak_bytes"]) == ("dlprof.memory/1", 199 * MB)
    assert told["peak_at"] == {"time_ns": 6_950_000_000, "phase": "fit.steps", "file": "train.py", "line": 30}
    assert told["owners"][0] == {
        "layer": "dense", "direction": None, "kind": "parameters", "device": None, "bytes": 5 * MB, "how": "exact",
        "count": 2, "model": 1,
    }  # fmt: skip
    assert told["growth"]["ci"][0] <= told["growth"]["bytes_per_step"] <= told["growth"]["ci"][1]
    assert round(told["growth"]["bytes_per_step"]) == 200_000


def test_without_samples_figures_are_null_with_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Never 0; it is no error."""
    assert dlprof("memory", trained(tmp_path / "r").folder.path, "--json") == 0

    told = json.loads(capsys.readouterr().out)
    assert (told["peak_bytes"], told["peak_at"], told["growth"]) == (None, None, None)
    memory = {name for name in told["not_measured"] if not name.startswith("trends.")}
    assert memory == {"peak_bytes", "phases", "growth", "owners", "engines", "heap"}
    assert told["not_measured"]["trends.threads"] == "no sample of processes was taken"


@pytest.mark.parametrize(
    ("by", "line"),
    [
        ("phase", "fit.steps      199 MB"),
        ("step", "epoch 1, step 496  199 MB"),
        ("time", "fit.steps  train.py:30"),
        ("kind", "anonymous          199 MB"),
        ("layer", "5 MB       2  dense  -          parameters  -       exact"),
    ],
)
def test_what_it_is_shown_by(tmp_path: Path, capsys: pytest.CaptureFixture[str], by: str, line: str) -> None:
    """Each begins with the peak."""
    assert dlprof("memory", leaking(tmp_path / "r"), "--by", by, "--plain") == 0

    out = capsys.readouterr().out
    assert "peak 199 MB, at 6.95 s in fit.steps, at train.py:30" in out
    assert line in out


def test_who_allocated_it_is_shown_where_that_was_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each line with where it was allocated."""
    run = over_training([MB] * 100, tmp_path / "r", **allocated((7, [5 * MB + n * MB for n in range(50)])))

    assert dlprof("memory", run.folder.path, "--by", "line", "--plain") == 0

    out = capsys.readouterr().out
    assert "recorded by memray: at most 10 MB of allocations held, 33 MB of it grew in the training" in out
    assert "10 MB       3  +33 MB  train.py:7  numpy/core.py:9 zeros" in out


def test_who_allocated_it_is_not_known_unless_it_was_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what would record it."""
    assert dlprof("memory", leaking(tmp_path / "r"), "--by", "line", "--plain") == 0

    told = "by line: not measured, because allocations were not recorded: dlprof trace --heap does that"
    assert told in " ".join(capsys.readouterr().out.split())


def test_growth_is_said_with_its_interval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And where the main thread stood."""
    dlprof("memory", leaking(tmp_path / "r"), "--plain")

    out = capsys.readouterr().out
    assert "growth over steps: 200 kB a step (95 %: 200 kB to 200 kB)" in out
    assert "it grows" in out
    assert "most of it while the main thread stood at train.py:30 (fit.steps)" in out


def test_the_report_has_it_as_a_section(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And its JSON the same object."""
    folder = leaking(tmp_path / "r")
    dlprof("report", folder, "memory", "--plain")
    assert "peak 199 MB" in capsys.readouterr().out

    dlprof("report", folder, "--json")
    assert json.loads(capsys.readouterr().out)["memory"]["peak_bytes"] == 199 * MB
