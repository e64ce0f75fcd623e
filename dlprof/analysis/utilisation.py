"""Use of the machine: cores over time, memory, GPUs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import Floats, Integers, integers
from dlprof.schema.manifest import Manifest


@dataclass(frozen=True)
class CoreUse:
    """One core over the run.

    Attributes:
        core: Its number.
        mean_pct: Busy, in percent of the time; None where no tick was counted.
        strip: Busy percent in equal parts of the run; None where there is no sample.
    """

    core: int
    mean_pct: float | None
    strip: tuple[float | None, ...]


def cores(table: pa.Table, parts: int) -> list[CoreUse]:
    """Every core, with its use in `parts` equal parts of the run."""
    if not table.num_rows:
        return []
    end = pc.max(table["time_ns"]).as_py()
    numbers = sorted(set(table["core"].to_pylist()))
    return [_core(int(core), table.filter(pc.equal(table["core"], core)), end, parts) for core in numbers]


def _core(number: int, samples: pa.Table, end: int, parts: int) -> CoreUse:
    known = samples.filter(pc.is_finite(samples["busy_pct"]))
    busy, weight = known["busy_pct"].to_numpy(), known["interval_ns"].to_numpy().astype(float)
    mean = float(np.average(busy, weights=weight)) if len(busy) else None
    return CoreUse(number, mean, tuple(_strip(known["time_ns"].to_numpy(), weight, busy, end, parts)))


def _strip(ends: Integers, spans: Floats, busy: Floats, end: int, parts: int) -> list[float | None]:
    """Means over equal parts of [0, end), each sample weighing by how much of it lies in the part."""
    means: list[float | None] = []
    for part in range(parts):
        low, high = end * part / parts, end * (part + 1) / parts
        overlap = np.clip(np.minimum(ends, high) - np.maximum(ends - spans, low), 0, None)
        means.append(float((overlap * busy).sum() / overlap.sum()) if overlap.sum() > 0 else None)
    return means


@dataclass(frozen=True)
class MachineUse:
    """The machine over the run; CPU in percent of one core. None: not measured.

    Attributes:
        tree_cpu_pct: Mean of the traced process and its children.
        others_cpu_pct: Mean of all other processes but dlprof's.
        dlprof_cpu_pct: Mean of dlprof and its sidecars beside the process.
        peak_rss_bytes: Largest resident memory of the traced tree.
        threads: Largest number of threads of the traced process.
        processes: How many processes the tree had.
        available_min_bytes: Least memory available on the machine.
        major_faults: Of the traced process.
        switches_involuntary: Of the traced process.
    """

    tree_cpu_pct: float | None
    others_cpu_pct: float | None
    dlprof_cpu_pct: float | None
    peak_rss_bytes: int | None
    threads: int | None
    processes: int
    available_min_bytes: int | None
    major_faults: int | None
    switches_involuntary: int | None


def machine(table: pa.Table, samples: pa.Table, processes: pa.Table, pid: int | None) -> MachineUse:
    """Use of the machine, by the tables `machine`, `process_samples` and `processes`."""
    own = samples.filter(pc.equal(samples["pid"], pid)) if pid is not None else samples
    return MachineUse(
        tree_cpu_pct=_tree_cpu(samples),
        others_cpu_pct=_weighted(table, "others_cpu_pct"),
        dlprof_cpu_pct=_weighted(table, "dlprof_cpu_pct"),
        peak_rss_bytes=_peak_of_sums(samples),
        threads=pc.max(own["threads"]).as_py(),
        processes=processes.num_rows,
        available_min_bytes=pc.min(table["memory_available_bytes"]).as_py(),
        major_faults=pc.max(own["faults_major"]).as_py(),
        switches_involuntary=pc.max(own["switches_involuntary"]).as_py(),
    )


def _weighted(table: pa.Table, column: str) -> float | None:
    known = table.filter(pc.is_valid(table[column]))
    if not known.num_rows:
        return None
    return float(np.average(known[column].to_numpy(), weights=known["interval_ns"].to_numpy()))


def _tree_cpu(samples: pa.Table) -> float | None:
    """Mean over time of the sum over the processes (percent of one core)."""
    if not samples.num_rows:
        return None
    each = samples.group_by("time_ns").aggregate([("interval_ns", "max"), ("cpu_pct", "sum")])
    interval = integers(each["interval_ns_max"])
    cpu = pc.fill_null(each["cpu_pct_sum"], 0.0).to_numpy()
    return float((cpu * interval).sum() / interval.sum()) if interval.sum() else None


def _peak_of_sums(samples: pa.Table) -> int | None:
    """Most memory that all processes together had at one moment (bytes)."""
    sums = samples.group_by("time_ns").aggregate([("rss_bytes", "sum")])["rss_bytes_sum"]
    return pc.max(pc.fill_null(sums, 0)).as_py()  # type: ignore[no-any-return]


@dataclass(frozen=True)
class GpuUse:
    """One GPU over the run: means and peaks of what NVML told. None: not measured.

    Attributes:
        gpu: Its number.
        name: As the manifest has it.
        utilisation_mean_pct: Share of the time in which any kernel ran: not how full the GPU was.
        throttled_share: Share of the samples with a reason for lower clocks, other than idleness or a setting.
    """

    gpu: int
    name: str | None
    utilisation_mean_pct: float | None
    memory_peak_bytes: int | None
    memory_total_bytes: int | None
    process_memory_peak_bytes: int | None
    power_mean_w: float | None
    temperature_peak_c: float | None
    sm_clock_mean_mhz: float | None
    memory_clock_mean_mhz: float | None
    pcie_tx_mean_kb_per_s: float | None
    pcie_rx_mean_kb_per_s: float | None
    throttled_share: float | None


def gpus(table: pa.Table, manifest: Manifest) -> list[GpuUse]:
    """Each GPU of the table `gpu`, in order of their numbers."""
    numbers = sorted(set(table["gpu"].to_pylist()))
    return [_gpu(gpu, manifest.gpu_name(gpu), table.filter(pc.equal(table["gpu"], gpu))) for gpu in numbers]


def _gpu(number: int, name: str | None, samples: pa.Table) -> GpuUse:
    return GpuUse(
        gpu=number,
        name=name,
        utilisation_mean_pct=pc.mean(samples["utilisation_pct"]).as_py(),
        memory_peak_bytes=pc.max(samples["memory_used_bytes"]).as_py(),
        memory_total_bytes=pc.max(samples["memory_total_bytes"]).as_py(),
        process_memory_peak_bytes=pc.max(samples["process_memory_bytes"]).as_py(),
        power_mean_w=pc.mean(samples["power_w"]).as_py(),
        temperature_peak_c=pc.max(samples["temperature_c"]).as_py(),
        sm_clock_mean_mhz=pc.mean(samples["sm_clock_mhz"]).as_py(),
        memory_clock_mean_mhz=pc.mean(samples["memory_clock_mhz"]).as_py(),
        pcie_tx_mean_kb_per_s=pc.mean(samples["pcie_tx_kb_per_s"]).as_py(),
        pcie_rx_mean_kb_per_s=pc.mean(samples["pcie_rx_kb_per_s"]).as_py(),
        throttled_share=_throttled(samples["throttle_reasons"]),
    )


_NO_THROTTLING = 1 | 2 | 16
"""Reasons of NVML that are none: the GPU is idle, or its clocks were set."""


def _throttled(reasons: pa.ChunkedArray) -> float | None:
    """Share of the samples that tell a reason."""
    known = integers(reasons.drop_null())
    return float(np.count_nonzero(known & ~_NO_THROTTLING) / len(known)) if len(known) else None
