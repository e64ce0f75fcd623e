"""A run with a finding that can be tried."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlprof.store.run import Run
from tests.unit import runs
from tests.unit.runs import S


def timed(path: Path, import_s: float, **changes: Any) -> Run:
    """A run whose import takes so long, and whose wall time is longer by that."""
    wall = round((8 + import_s) * S)
    told = runs.manifest(process={"pid": 42, "exit_code": 0, "signal": None, "wall_ns": wall}, **changes)
    rows = runs.phases(startup=import_s, fit_steps=5, fit_callbacks=1, teardown=2)
    rows[0]["phase"] = "import"
    return runs.trained(path, told, phases=rows)


def diagnosed(tmp_path: Path) -> Run:
    """A run with one thread on two cores: a finding with a remedy."""
    kernels = [{"op": "mm", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 16}]
    spans = [runs.fit_span(training={"threads": {"usable_cores": 2, "torch": 1}})]
    samples = [{"time_ns": round(at * S), "interval_ns": S, "cpu_pct": 100.0, "run_ns": run, "wait_ns": 0,
                "main_run_ns": run, "main_wait_ns": 0} for at, run in ((2.5, 0), (7.5, 5 * S))]  # fmt: skip
    machine = [{"time_ns": 5 * S, "interval_ns": S, "cpu_pct": 100.0, "others_cpu_pct": 0.0, "dlprof_cpu_pct": 0.0}]
    return runs.trained(tmp_path / "r", spans=spans, process_samples=samples, machine=machine, **runs.window(kernels))
