"""Traces of CNTK."""

from __future__ import annotations

from pathlib import Path

from dlprof.store import query
from tests.unit.ingest.imports import DATA, imported, of_kind


def test_a_trace_of_cntk_is_read_exactly(tmp_path: Path) -> None:
    """3,256 executions of nodes with pass and operator; the passes around them count for nothing."""
    run = imported(tmp_path, DATA / "cntk_mlp.json.gz")

    assert of_kind(run, "operator") == (3256, 463770.0)
    times = query.ask(
        run, "SELECT direction, count(*), sum(dur_ns) FROM kernels WHERE op = 'Times' GROUP BY 1 ORDER BY 1"
    )
    assert times.rows == [("backward", 48, 35457000), ("forward", 126, 55187000)]
    updates = query.ask(run, "SELECT count(*) > 0, bool_and(direction = 'update') FROM kernels WHERE op = 'Sqrt'")
    assert updates.rows == [(True, True)]
