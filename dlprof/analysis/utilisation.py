"""Use of the machine: processes, memory, GPUs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import process_moments, tracing_times
from dlprof.analysis.columns import integers
from dlprof.analysis.process_moments import Moments
from dlprof.analysis.tracing_times import TracingTimes
from dlprof.schema.manifest import Manifest
from dlprof.store.run import Run

_OF_PROCESS = ("threads", "faults_major", "switches_involuntary")
"""Columns of the table `process_samples` whose largest value is told of the traced process."""


@dataclass(frozen=True)
class MachineUse:
    """The machine over the run; CPU in percent of one core. None: not measured.

    Attributes:
        tree_cpu_pct: Mean of the traced process and its children.
        others_cpu_pct: Mean of all other processes but dlprof's.
        dlprof_cpu_pct: Mean of dlprof and its sidecars beside the process.
        peak_rss_bytes: Largest resident memory of the traced tree, but for while kernels were traced.
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


def machine(
    table: pa.Table,
    samples: Callable[[], Iterable[pa.Table]],
    processes: int,
    pid: int | None,
    tracing: TracingTimes | None = None,
) -> MachineUse:
    """Use of the machine.

    Args:
        table: Table `machine`.
        samples: Gives the table `process_samples` in pieces, in which what was sampled at one time stands together;
            it is asked twice.
        processes: How many there were.
        pid: The traced process; None: any.
        tracing: When kernels were traced: what memory was then is no peak, if there were other samples.
    """
    cpu_pct, peak_bytes = _of_tree(process_moments.of_pieces(samples()), tracing or TracingTimes())
    own = _largest(samples(), pid)
    return MachineUse(
        tree_cpu_pct=cpu_pct,
        others_cpu_pct=_weighted(table, "others_cpu_pct"),
        dlprof_cpu_pct=_weighted(table, "dlprof_cpu_pct"),
        peak_rss_bytes=peak_bytes,
        threads=own["threads"],
        processes=processes,
        available_min_bytes=pc.min(table["memory_available_bytes"]).as_py(),
        major_faults=own["faults_major"],
        switches_involuntary=own["switches_involuntary"],
    )


def machine_of_run(run: Run) -> MachineUse:
    """Use of the machine over a run."""
    columns = ("interval_ns", "others_cpu_pct", "dlprof_cpu_pct", "memory_available_bytes")
    sampled = (*process_moments.COLUMNS, "pid", *_OF_PROCESS)
    return machine(
        run.table("machine", columns),
        lambda: run.pieces("process_samples", sampled),
        run.count("processes"),
        run.manifest.process.pid,
        tracing_times.of_run(run),
    )


def _of_tree(moments: Iterable[Moments], tracing: TracingTimes) -> tuple[float | None, int | None]:
    """CPU (percent of a core, mean over time) and most memory (bytes) of all processes together; None: not measured."""
    cpu = interval = 0.0
    peak = traced = np.nan
    for some in moments:
        cpu += float((np.nan_to_num(some.cpu_pct) * some.interval_ns).sum())
        interval += float(some.interval_ns.sum())
        is_traced = tracing.at(some.time_ns)
        peak = np.fmax(peak, np.fmax.reduce(some.rss_bytes[~is_traced], initial=np.nan))
        traced = np.fmax(traced, np.fmax.reduce(some.rss_bytes[is_traced], initial=np.nan))
    peak = traced if np.isnan(peak) else peak
    return cpu / interval if interval else None, None if np.isnan(peak) else int(peak)


def _largest(samples: Iterable[pa.Table], pid: int | None) -> dict[str, int | None]:
    """The largest of each counter of the traced process; None: not measured."""
    largest: dict[str, int | None] = dict.fromkeys(_OF_PROCESS)
    for piece in samples:
        own = piece.filter(pc.equal(piece["pid"], pid)) if pid is not None else piece
        for name in _OF_PROCESS:
            known = (one for one in (largest[name], pc.max(own[name]).as_py()) if one is not None)
            largest[name] = max(known, default=None)
    return largest


def _weighted(table: pa.Table, column: str) -> float | None:
    known = table.filter(pc.is_valid(table[column]))
    if not known.num_rows:
        return None
    return float(np.average(known[column].to_numpy(), weights=known["interval_ns"].to_numpy()))


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
