"""Use of the machine: cores over time, memory, GPUs."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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
    found = []
    for core in sorted(set(table["core"].to_pylist())):
        own = table.filter(pc.equal(table["core"], core))
        busy = own["busy_pct"].to_numpy(zero_copy_only=False)
        weight = own["interval_ns"].to_numpy(zero_copy_only=False).astype(float)
        valid = ~np.isnan(busy.astype(float))
        mean = float(np.average(busy[valid], weights=weight[valid])) if valid.any() else None
        strip = _strip(own["time_ns"].to_numpy()[valid], weight[valid], busy[valid], end, parts)
        found.append(CoreUse(int(core), mean, tuple(strip)))
    return found


def _strip(ends: np.ndarray, spans: np.ndarray, busy: np.ndarray, end: int, parts: int) -> list[float | None]:
    """Means over equal parts of [0, end), each sample weighing by how much of it lies in the part."""
    found: list[float | None] = []
    for part in range(parts):
        low, high = end * part / parts, end * (part + 1) / parts
        overlap = np.clip(np.minimum(ends, high) - np.maximum(ends - spans, low), 0, None)
        found.append(float((overlap * busy).sum() / overlap.sum()) if overlap.sum() > 0 else None)
    return found


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
    total: dict[int, float] = defaultdict(float)
    interval: dict[int, int] = {}
    for time_ns, interval_ns, cpu in zip(
        *(samples[c].to_pylist() for c in ("time_ns", "interval_ns", "cpu_pct")), strict=True
    ):
        interval[time_ns] = interval_ns
        total[time_ns] += cpu or 0.0
    if not total:
        return None
    return sum(cpu * interval[at] for at, cpu in total.items()) / sum(interval.values())


def _peak_of_sums(samples: pa.Table) -> int | None:
    total: dict[int, int] = defaultdict(int)
    for time_ns, rss in zip(samples["time_ns"].to_pylist(), samples["rss_bytes"].to_pylist(), strict=True):
        total[time_ns] += rss or 0
    return max(total.values(), default=None)


def gpus(table: pa.Table, manifest: Manifest) -> list[dict[str, Any]]:
    """Each GPU: means and peaks of its metrics; None where a metric was not measured."""
    found = []
    for gpu in sorted(set(table["gpu"].to_pylist())):
        own = table.filter(pc.equal(table["gpu"], gpu))
        found.append(
            {
                "gpu": gpu,
                "name": manifest.gpu_name(gpu),
                "utilisation_mean_pct": pc.mean(own["utilisation_pct"]).as_py(),
                "memory_peak_bytes": pc.max(own["memory_used_bytes"]).as_py(),
                "memory_total_bytes": pc.max(own["memory_total_bytes"]).as_py(),
                "process_memory_peak_bytes": pc.max(own["process_memory_bytes"]).as_py(),
                "power_mean_w": pc.mean(own["power_w"]).as_py(),
                "temperature_peak_c": pc.max(own["temperature_c"]).as_py(),
                "sm_clock_mean_mhz": pc.mean(own["sm_clock_mhz"]).as_py(),
                "memory_clock_mean_mhz": pc.mean(own["memory_clock_mhz"]).as_py(),
                "pcie_tx_mean_kb_per_s": pc.mean(own["pcie_tx_kb_per_s"]).as_py(),
                "pcie_rx_mean_kb_per_s": pc.mean(own["pcie_rx_kb_per_s"]).as_py(),
                "throttled_share": _throttled(own["throttle_reasons"]),
            }
        )
    return found


def _throttled(reasons: pa.ChunkedArray) -> float | None:
    """Share of samples with a reason other than "idle" (1) and "clocks were set" (2, 16)."""
    known = [value for value in reasons.to_pylist() if value is not None]
    return sum(1 for value in known if value & ~(1 | 2 | 16)) / len(known) if known else None
