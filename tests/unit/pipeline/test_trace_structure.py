"""Steps and phases of imported runs."""

from __future__ import annotations

import json
from pathlib import Path

from tests.unit.ingest.imports import DATA, imported


def test_an_imported_run_has_steps_and_phases(tmp_path: Path) -> None:
    """Of a trace with two `ProfilerStep`, in which a model trains."""
    run = imported(tmp_path, DATA / "hta_rank0.json.gz")

    assert [(row["loop"], row["step"]) for row in run.rows("steps")] == [("train", 551), ("train", 552)]
    assert [row["phase"] for row in run.rows("phases")] == ["fit", "fit.steps", "outside_steps"]
    assert sum(row["dur_ns"] for row in run.rows("phases") if row["parent"] is None) == run.wall_ns


def test_the_source_says_how_the_steps_were_told(tmp_path: Path) -> None:
    """Beside what the file says of itself."""
    run = imported(tmp_path, DATA / "hta_gp100_step_annotations.json.gz")

    facts = json.loads(run.rows("sources")[0]["facts"])
    assert facts["steps"] == "from the end of one update by the optimiser to the end of the next"
    assert facts["devices"]


def test_of_several_processes_one_has_the_phases(tmp_path: Path) -> None:
    """It is said which."""
    run = imported(tmp_path, DATA / "hta_rank1.json.gz", DATA / "hta_rank0.json.gz")

    (said,) = [row["message"] for row in run.rows("health") if row["slug"] == "trace-one-process"]
    assert said == "Phases, steps and the split of the time are those of rank 0, one of 2 processes."
    assert {row["rank"] for row in run.rows("steps")} == {0}


def test_sums_have_no_phases(tmp_path: Path) -> None:
    """They have no times."""
    run = imported(tmp_path, DATA / "nvprof_summary.csv")

    assert run.rows("phases") == []
    assert run.wall_ns is None
