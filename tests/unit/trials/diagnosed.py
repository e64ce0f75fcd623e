"""A run with a finding that can be tried."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

from msgspec import structs

from dlprof.launch import seal, sources
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
    tables = {"spans": spans, "process_samples": samples, "machine": machine, **runs.window(kernels)}
    return runs.trained(tmp_path / "r", made_here(tmp_path), **tables)


def made_here(tmp_path: Path, **changes: Any) -> dict[str, Any]:
    """The manifest of a run of train.py in a folder, on this machine."""
    (tmp_path / "train.py").write_text("pass\n")
    machine = {"host": platform.node(), "system": "Linux", "cpu": "x", "cores": 2, "usable_cores": 2, "memory_bytes": 8}
    return runs.manifest(machine=machine, script_folder=str(tmp_path), **changes)


def sealed(tmp_path: Path) -> Run:
    """That run as this user's dlprof made it, with the script that it ran."""
    run = diagnosed(tmp_path)
    run.folder.write_manifest(structs.replace(run.manifest, seal=seal.seal(run.manifest)))
    sources.keep_sources(run.folder, {"train.py": str(tmp_path / "train.py")})
    return Run(run.folder, run.folder.read_manifest())
