"""Events of a file that lie hours away from all others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dlprof.store.run import Run
from tests.unit.ingest.imports import imported

HOUR_US = 3600 * 10**6


def event(ts: float, **more: Any) -> dict[str, Any]:
    """An event of 1 ms."""
    return {"ph": "X", "name": "matmul", "pid": 1, "tid": 1, "ts": ts, "dur": 1000, **more}


def run_of(folder: Path, events: list[dict[str, Any]]) -> Run:
    """What an import makes of them."""
    path = folder / "t.json"
    path.write_text(json.dumps(events))
    return imported(folder, path)


def told(run: Run) -> list[tuple[str, int | None]]:
    """What the health section says."""
    return [(row["slug"], row["count"]) for row in run.rows("health")]


def test_one_event_at_zero_does_not_make_a_trace_last_for_decades(tmp_path: Path) -> None:
    """Its time was not set; it is counted."""
    run = run_of(tmp_path, [event(0), *(event(1.7e15 + 2000 * at) for at in range(20))])

    assert [row["dur_ns"] for row in run.rows("kernel_windows")] == [39_000_000]
    assert told(run) == [("trace-stray", 1)]
    assert run.rows("health")[0]["message"] == (
        "1 events of t.json lie 472222 h or more away from all others, which begin within 0.038 s: their times are "
        "taken for wrong, and they were passed over."
    )


def test_a_process_that_has_nothing_but_stray_events_is_none(tmp_path: Path) -> None:
    """Nor are they told of two processes then."""
    run = run_of(tmp_path, [event(0, pid=7), *(event(5e12 + 2000 * at) for at in range(20)), event(1e15)])

    assert [row["dur_ns"] for row in run.rows("kernel_windows")] == [39_000_000]
    assert told(run) == [("trace-stray", 2)]


def test_work_far_apart_is_kept_where_it_is_more_than_single_events(tmp_path: Path) -> None:
    """A program may wait for hours."""
    early = [event(2000 * at) for at in range(5)]
    run = run_of(tmp_path, [*early, *(event(5 * HOUR_US + 2000 * at) for at in range(20))])

    assert sum(row["events"] for row in run.rows("sources")) == 25
    assert told(run) == []


def test_a_single_event_within_the_hour_is_kept(tmp_path: Path) -> None:
    """What begins a minute early may be the loading of something."""
    run = run_of(tmp_path, [event(0), *(event(60e6 + 2000 * at) for at in range(20))])

    assert sum(row["events"] for row in run.rows("sources")) == 21
    assert told(run) == []
