"""Hits that the steps of a loop tell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from dlprof.ingest.own.wire_stream import Stream
from dlprof.pipeline import anchored_lines
from dlprof.pipeline.workspace import Workspace
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Command, Interpreter, Manifest
from dlprof.schema.manifest import Process as ProcessFacts
from dlprof.schema.vocabulary import RunSource, RunState
from tests.unit.runs import MS, table

SOURCE = "for x in data:\n    loss = model(x)\n    optimizer.step()\n    if loss < 1:\n        print(loss)\n"


def counted(line: int, hits: int | None, how: str = "scaled", samples: int | None = 4) -> dict[str, Any]:
    """A row of `lines` of train.py."""
    return {
        "file": "train.py", "function": "<module>", "first_line": 1, "line": line, "hits": hits, "time_ns": 200 * MS,
        "source": "", "how": how, "samples": samples,
    }  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Workspace:
    """A finished run of train.py, whose loop at line 1 made 3760 steps in two trainings; line 2 was scaled to 900."""
    (tmp_path / "train.py").write_text(SOURCE)
    manifest = Manifest(
        state=RunState.FINISHED,
        script_folder=str(tmp_path),
        interpreter=Interpreter(version="3.11.7"),
        process=ProcessFacts(exit_code=0),
    )
    made = Workspace(RunDir(tmp_path / "run"), manifest, fresh=True)
    made.names.short(str(tmp_path / "train.py"))
    made.stream = Stream(complete=True)
    put_loop(made)
    made.tables.put({"lines": table("lines", [counted(2, 900)])})
    return made


def put_loop(run: Workspace, **facts: Any) -> None:
    """Two trainings at line 1, and an evaluation."""
    detail = json.dumps({"how": "inferred", **facts})
    kinds = {1: "fit", 2: "fit", 3: "evaluate"}
    spans = [
        {"span_id": n, "kind": kind, "name": kind, "file": "train.py", "line": 1, "detail": detail}
        for n, kind in kinds.items()
    ]
    steps = [{"loop_id": 1, "count": 3000}, {"loop_id": 2, "count": 760}, {"loop_id": 3, "count": 50}]
    run.tables.put({"spans": table("spans", spans), "steps": table("steps", steps)})


def hits(run: Workspace) -> list[tuple[Any, ...]]:
    """Line, hits and how of each row, after that."""
    anchored_lines.add(run)
    return [(row["line"], row["hits"], row["how"]) for row in run.tables.get("lines").to_pylist()]  # type: ignore[union-attr]


def test_a_line_that_runs_once_in_each_step_has_the_steps_as_hits(run: Workspace) -> None:
    """It had a quarter of them."""
    assert hits(run) == [(2, 3760, "exact")]


def test_other_lines_keep_their_hits(run: Workspace) -> None:
    """One below a condition, and one that was counted."""
    told = [counted(5, 40), counted(3, 7, "exact", None)]
    run.tables.put({"lines": table("lines", [counted(2, 900), *told])})

    assert hits(run)[1:] == [(5, 40, "scaled"), (3, 7, "exact")]


def test_the_line_at_which_the_loop_begins_runs_about_as_often(run: Workspace) -> None:
    """And once more at each end: it is no exact number. It was scaled to three times as many."""
    run.tables.put({"lines": table("lines", [counted(2, 900), counted(1, 11000)])})

    assert hits(run)[1:] == [(1, 3760, "scaled")]


def test_a_loop_of_which_no_line_is_known_keeps_that_of_its_beginning(run: Workspace, tmp_path: Path) -> None:
    """Its update hangs on a condition."""
    (tmp_path / "train.py").write_text("for x in data:\n    if x:\n        optimizer.step()\n")
    run.tables.put({"lines": table("lines", [counted(1, 900)])})

    assert hits(run) == [(1, 900, "scaled")]


def test_a_line_that_no_window_met_has_hits_too(run: Workspace) -> None:
    """They were not known."""
    run.tables.put({"lines": table("lines", [counted(2, None)])})

    assert hits(run) == [(2, 3760, "exact")]


def test_a_run_that_did_not_end_well_may_have_ended_within_a_turn(run: Workspace) -> None:
    """So its hits are no exact ones."""
    run.note(process=structs.replace(run.manifest.process, exit_code=1))

    assert hits(run) == [(2, 3760, "scaled")]


def test_a_line_whose_time_is_scaled_is_not_called_exact(run: Workspace) -> None:
    """No stack was sampled."""
    run.tables.put({"lines": table("lines", [counted(2, 900, samples=None)])})

    assert hits(run) == [(2, 3760, "scaled")]


def test_steps_of_several_batches_are_no_turns(run: Workspace) -> None:
    """Gradients are added up, by a function that the loop calls."""
    put_loop(run, batches_per_step=4)

    assert hits(run) == [(2, 900, "scaled")]


def test_of_a_program_that_dlprof_came_to_late_no_hits_are_told(run: Workspace) -> None:
    """It had turned before."""
    run.note(backend=structs.replace(run.manifest.backend, source=RunSource.ATTACHED))

    assert hits(run) == [(2, 900, "scaled")]


def test_a_line_of_the_script_that_is_in_no_loop_ran_once(run: Workspace, tmp_path: Path) -> None:
    """`main()`, which samples saw and no window met; of one in a loop, or that nobody saw, nothing is known."""
    (tmp_path / "train.py").write_text("if __name__ == '__main__':\n    main()\nfor x in a:\n    main()\nmain()\n")
    run.note(command=Command(script="train.py"))
    run.tables.put({"lines": table("lines", [counted(2, None), counted(4, None), counted(5, None, samples=None)])})

    assert hits(run) == [(2, 1, "exact"), (4, None, "scaled"), (5, None, "scaled")]


def test_a_line_of_another_file_may_have_run_more_than_once(run: Workspace, tmp_path: Path) -> None:
    """It may have been loaded anew."""
    (tmp_path / "train.py").write_text("main()\n")
    run.note(command=Command(script="other.py"))
    run.tables.put({"lines": table("lines", [counted(1, None)])})

    assert hits(run) == [(1, None, "scaled")]


def test_a_line_below_a_loop_has_its_hits_of_the_first_steps_for_all_of_them(run: Workspace) -> None:
    """Line 5 ran in every second of the 40 steps before windows."""
    file = str(Path(run.manifest.script_folder) / "train.py")
    counts = {"file": file, "first_line": 1, "function": "<module>", "lines": [[2, 40, 9], [5, 20, 9]]}
    run.folder.raw.mkdir(parents=True)
    (run.folder.raw / "lines.json").write_text(
        json.dumps({"format": "dlprof.lines/1", "functions": [counts], "thinned": {"windows": 2}})
    )
    run.tables.put({"lines": table("lines", [counted(2, None), counted(5, None)])})

    assert hits(run) == [(2, 3760, "exact"), (5, 1900, "scaled")]
