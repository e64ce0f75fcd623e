"""A comparison as text, as JSON and on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import compare
from dlprof.analysis.compare import Side
from dlprof.report import compare_json, compare_text
from dlprof.report.json_text import plain
from dlprof.store.run import Run
from tests.unit import runs
from tests.unit.runs import S


def pair(tmp_path: Path, told: dict[str, Any] | None = None, **changes: list[dict[str, Any]]) -> tuple[Run, Run]:
    """A run, and one that differs from it as told."""
    return runs.trained(tmp_path / "a"), runs.trained(tmp_path / "b", told, **changes)


def compared(a: Run, b: Run) -> compare.Comparison:
    """Two runs as a comparison."""
    return compare.compare(Side("a", (a,)), Side("b", (b,)))


def slower(path: Path, import_s: float) -> Run:
    """A run whose import takes so long, and whose wall time is longer by that."""
    wall = int((8 + import_s) * S)
    told = runs.manifest(process={"pid": 42, "exit_code": 0, "signal": None, "wall_ns": wall})
    rows = [
        {"phase": "import", "parent": None, "dur_ns": int(import_s * S), "count": 1},
        *runs.phases(fit_steps=5, fit_callbacks=1, teardown=2),
    ]
    return runs.trained(path, told, phases=rows)


def test_no_difference_beyond_noise_is_said_in_these_words(tmp_path: Path) -> None:
    """Two runs of the same thing give no story."""
    found = compared(slower(tmp_path / "a", 2.05), runs.trained(tmp_path / "b"))

    assert compare_text.verdict(found) == "a took 10.1 s, b 10.0 s: no difference beyond noise."


def test_the_verdict_names_the_slower_side_and_its_largest_part(tmp_path: Path) -> None:
    """Whichever side that is."""
    found = compared(runs.trained(tmp_path / "a"), slower(tmp_path / "b", 4))

    assert compare_text.verdict(found) == (
        "a took 10.0 s, b 12.0 s: b is 1.20 x slower than a, by 2.00 s, most of it in import (2.00 s)."
    )


def test_json_has_the_fields_of_the_contract(tmp_path: Path) -> None:
    """And its items sum to the gap."""
    found = compared(slower(tmp_path / "a", 3), runs.trained(tmp_path / "b"))

    content = json.loads(json.dumps(plain(compare_json.as_json(found, []))))

    assert content["schema"] == "dlprof.compare/1"
    assert content["comparable"] is True
    assert content["gap_ns"] == S
    assert content["items"][0] == {
        "path": "import", "a_ns": 3 * S, "b_ns": 2 * S, "delta_ns": S, "ci_ns": None, "within_noise": False,
    }  # fmt: skip
    assert sum(item["delta_ns"] for item in content["items"]) + content["unattributed_ns"] == content["gap_ns"]


def test_the_command_takes_runs_repeats_and_several_sides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder of runs is one side; commas join runs."""
    for n in range(3):
        slower(tmp_path / "slow" / f"{n}", 4 + n / 10)
        slower(tmp_path / "fast" / f"{n}", 2 + n / 10)
    fast = ",".join(str(tmp_path / "fast" / f"{n}") for n in range(3))

    assert runs.dlprof("compare", str(tmp_path / "slow"), fast, str(tmp_path / "slow" / "0"), "--json") == 0

    content = json.loads(capsys.readouterr().out)
    assert content["a"]["runs"] == ["0", "1", "2"]
    assert content["gap_ci_ns"] is not None
    assert [one["b"]["runs"] for one in content["more"]] == [["0"]]


def test_the_text_begins_with_what_makes_a_comparison_unfair(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Then come the figures all the same."""
    runs.trained(tmp_path / "a")
    runs.trained(tmp_path / "b", spans=[runs.fit_span(batch_size=64)])

    assert runs.dlprof("compare", str(tmp_path / "a"), str(tmp_path / "b"), "--plain") == 0

    out = capsys.readouterr().out
    assert out.index("Not comparable, because") < out.index("Where the gap comes from")
    assert "- the batch sizes differ: 128 and 64" in out


def test_one_run_alone_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A comparison needs two."""
    runs.trained(tmp_path / "a")

    assert runs.dlprof("compare", str(tmp_path / "a")) == 64
    assert "A comparison needs two runs." in capsys.readouterr().err
