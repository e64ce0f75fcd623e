"""Sums of GPU traces beside facts that were computed from the files without dlprof."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import device_time, kernels
from dlprof.pipeline.importing import import_files
from dlprof.store.run import Run

DATA = Path(__file__).parents[2] / "data" / "traces"
SHARED = os.environ.get("DLPROF_SHARED_TRACES")
FACTS = {
    "hta_a100_alexnet.json.gz": (79, 10_692_000, 19),
    "hta_a100_triton.json.gz": (1, 1_760, 0),
    "hta_gp100_step_annotations.json.gz": (130, 290_000, 10),
    "hta_mi250_rocm62.json.gz": (14, 110_881, 2),
    "hta_rank0.json.gz": (1154, 606_519_000, 50),
    "hta_rank1.json.gz": (1104, 651_026_000, 50),
    "tracelens_mi300x_sglang_decode.json.gz": (555, 9_765_437, 3),
    "tracelens_jax_gemm_mi300x.xplane.pb": (54, 3_475_484, 0),
    "nvprof_gpu_trace.csv.gz": (284, 8_270_633, 47),
}
"""Kernels, the plain sum of their durations (ns), and copies and memsets."""
ROUNDING = 1e-5
"""Files that count in parts of a microsecond are rounded event by event."""


def imported(path: Path, folder: Path) -> Run:
    """A foreign trace as a run."""
    return import_files([path], folder / "run", reader=None, report=lambda _: None)


def on_devices(run: Run) -> tuple[int, int, int]:
    """Kernels, their time (ns), and copies and memsets."""
    rows = kernels.summarise(run, "device").work
    of = {kind: [row for row in rows if row.keys["kind"] == kind] for kind in ("kernel", "transfer")}
    return (
        sum(row.count for row in of["kernel"]),
        sum(row.total_ns for row in of["kernel"]),
        sum(row.count for row in of["transfer"]),
    )


@pytest.mark.parametrize("name", FACTS)
def test_sums_of_kernels_are_those_of_the_file(name: str, tmp_path: Path) -> None:
    """Their number, the sum of their times, and how many copies there were."""
    count, total_ns, copies = FACTS[name]

    found = on_devices(imported(DATA / name, tmp_path))

    assert (found[0], found[2]) == (count, copies)
    assert found[1] == pytest.approx(total_ns, rel=ROUNDING)


def told() -> Mapping[str, Mapping[str, Any]]:
    """Facts of all GPU traces of the shared folder, by file."""
    if SHARED is None:
        return {}
    facts = json.loads((Path(SHARED) / "facts.json").read_text(encoding="utf-8"))
    return {name: fact for name, fact in facts.items() if _kernels(fact)}


def _kernels(fact: Mapping[str, Any]) -> int:
    names = (
        "gpu_kernel_events",
        "concurrent_kernel_rows",
        "kernel_rows",
        "gpu_stream_events_total",
        "kernel_calls_total",
    )
    return next((int(fact[name]) for name in names if fact.get(name)), 0)


def _time_ns(fact: Mapping[str, Any]) -> float:
    scales = {"total_kernel_time_us": 1e3, "total_kernel_time_ns": 1, "non_memcpy_gpu_time_us": 1e3}
    return next((fact[name] * scale for name, scale in scales.items() if name in fact), 0.0)


@pytest.mark.slow
@pytest.mark.skipif(SHARED is None, reason="DLPROF_SHARED_TRACES names no folder of traces")
@pytest.mark.parametrize("name", told())
def test_sums_of_every_shared_trace_are_its_facts(name: str, tmp_path: Path) -> None:
    """Kernels and their time, and the busy time of kernels where the facts have it."""
    fact = told()[name]

    run = imported(Path(SHARED or "") / name, tmp_path)
    count, total_ns, copies = on_devices(run)

    expected = _kernels(fact)
    assert expected in (count, count + copies)
    if _time_ns(fact):
        assert total_ns == pytest.approx(_time_ns(fact), rel=ROUNDING)
    if "kernel_busy_us_union_per_device" in fact:
        union = sum(row.union_ns or 0 for row in kernels.summarise(run, "device", kinds=("kernel",)).rows)
        assert union == pytest.approx(1e3 * fact["kernel_busy_us_union_per_device"], rel=1e-4)
        assert len({time.device for time in device_time.of_run(run)}) == fact["devices_with_kernels"]
