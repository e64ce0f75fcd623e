"""First steps of loops of the script's own that begin where stacks are in the loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.ingest.artifact import ProcessId
from dlprof.pipeline import first_steps
from dlprof.pipeline.workspace import Workspace
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Manifest
from tests.unit.runs import MS, table

INFERRED = '{"how": "inferred"}'


@pytest.fixture
def run(tmp_path: Path) -> Workspace:
    """Data are made at line 1 up to 900 ms; the loop at line 2 is told from 100 ms on, its first step up to 1000."""
    (tmp_path / "train.py").write_text("data = make()\nfor x in data:\n    step(x)\n")
    made = Workspace(RunDir(tmp_path / "run"), Manifest(script_folder=str(tmp_path)), fresh=True)
    made.process = ProcessId("host", 0, 5, 0)
    made.names.short(str(tmp_path / "train.py"))
    put_spans(made)
    steps = [(100, 900), (1000, 10), (1010, 10)]
    made.tables.put(
        {
            "steps": table("steps", [{"loop_id": 1, "count": 1, **span(*one)} for one in steps]),
            "epochs": table("epochs", [{"loop_id": 1, "epoch": 0, **span(100, 920)}]),
            "frames": table("frames", [{"stack_id": n, "depth": 0, "file": "train.py", "line": n} for n in (1, 3)]),
            "stacks": table(
                "stacks",
                [
                    {"pid": 5, "thread": "MainThread", "stack_id": 1, **span(0, 900)},
                    {"pid": 5, "thread": "MainThread", "stack_id": 3, **span(900, 120)},
                ],
            ),
        }
    )
    return made


def span(start: int, dur: int) -> dict[str, Any]:
    """Begin and length (ms)."""
    return {"start_ns": start * MS, "dur_ns": dur * MS}


def put_spans(run: Workspace, detail: str | None = INFERRED) -> None:
    """The loop, its epoch, and an epoch of an earlier one."""
    common = {"thread_id": 7, "thread": "MainThread", "file": "train.py", "line": 2}
    loop = {"span_id": 1, "kind": "fit", "detail": detail, **span(100, 920)}
    epochs = [{"span_id": n, "kind": "epoch", **span(start, 920)} for n, start in ((2, 100), (3, 0))]
    run.tables.put({"spans": table("spans", [{**common, **one} for one in (loop, *epochs)])})


def begins(run: Workspace, name: str) -> list[tuple[int, int]]:
    """Begin and end (ms) of the rows of a table."""
    rows = run.tables.get(name).to_pylist()  # type: ignore[union-attr]
    return [(row["start_ns"] // MS, (row["start_ns"] + row["dur_ns"]) // MS) for row in rows]


def test_loop_epoch_and_first_step_begin_where_stacks_are_in_the_loop(run: Workspace) -> None:
    """They end as they did; what began earlier is none of it."""
    assert first_steps.settle(run)
    assert begins(run, "steps") == [(900, 1000), (1000, 1010), (1010, 1020)]
    assert begins(run, "epochs") == [(900, 1020)]
    assert begins(run, "spans") == [(900, 1020), (900, 1020), (0, 920)]


@pytest.mark.parametrize(
    ("imported", "begin"), [((850, 100), 950), ((850, 40), 900), ((850, 200), 100)], ids=["in it", "over", "to its end"]
)
def test_a_loop_begins_behind_what_its_thread_is_in_the_middle_of(
    imported: tuple[int, int], begin: int, run: Workspace
) -> None:
    """Spans are one inside of another; where that lasts as long as the step, the loop stays as it is."""
    spans = run.tables.get("spans")
    assert spans is not None
    more = {"span_id": 9, "kind": "import", "thread_id": 7, "thread": "MainThread", **span(*imported)}
    run.tables.put({"spans": table("spans", [*spans.to_pylist(), more])})

    first_steps.settle(run)

    assert begins(run, "steps")[0] == (begin, 1000)


def test_a_loop_that_keras_told_stays_as_it_is(run: Workspace) -> None:
    """Keras says when it begins."""
    put_spans(run, detail=None)

    assert not first_steps.settle(run)
    assert begins(run, "spans")[0] == (100, 1020)


def test_a_first_step_that_a_loader_gave_its_batch_stays_as_it_is(run: Workspace) -> None:
    """It begins with that."""
    run.tables.put({"steps": table("steps", [{"loop_id": 1, "count": 1, "input_ns": 4, **span(100, 900)}] * 2)})

    assert not first_steps.settle(run)
