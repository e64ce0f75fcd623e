"""Series of a run: cores, memory and GPUs over time, for viewers that draw curves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.timeline.devices import device_name
from dlprof.store.run import Run

_CORES = (("busy_pct", "busy", "%"),)
_MACHINE = (
    ("cpu_pct", "all processes", "% of a core"),
    ("others_cpu_pct", "other processes", "% of a core"),
    ("dlprof_cpu_pct", "dlprof", "% of a core"),
    ("memory_available_bytes", "memory available", "bytes"),
    ("swap_used_bytes", "swap used", "bytes"),
    ("temperature_c", "temperature", "°C"),
)
_PROCESS = (
    ("cpu_pct", "CPU", "% of a core"),
    ("rss_bytes", "resident memory", "bytes"),
    ("threads", "threads", "threads"),
)
_GPU = (
    ("utilisation_pct", "utilisation", "%"),
    ("memory_utilisation_pct", "memory utilisation", "%"),
    ("memory_used_bytes", "memory used", "bytes"),
    ("process_memory_bytes", "memory of the process", "bytes"),
    ("power_w", "power", "W"),
    ("temperature_c", "temperature", "°C"),
    ("sm_clock_mhz", "SM clock", "MHz"),
    ("memory_clock_mhz", "memory clock", "MHz"),
    ("pcie_tx_kb_per_s", "PCIe sent", "kB/s"),
    ("pcie_rx_kb_per_s", "PCIe received", "kB/s"),
)
_MEANS = ("cpu_pct", "others_cpu_pct", "dlprof_cpu_pct", "busy_pct")
"""Columns that are means over `interval_ns`: a curve has them from the beginning of that interval on."""


@dataclass(frozen=True)
class Series:
    """Something measured again and again.

    Attributes:
        group: What it is of: `machine`, `process 42`, `GPU 0`.
        name: What it is.
        unit: Of the values.
        time_ns: Since when each value holds (ns on the run's timeline).
        values: What was measured; moments without a value are left out.
    """

    group: str
    name: str
    unit: str
    time_ns: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]

    @property
    def title(self) -> str:
        """Its name with its unit."""
        return f"{self.name} ({self.unit})"


def all_series(run: Run) -> list[Series]:
    """Every series of a run; those of which nothing was measured are left out."""
    found = [*_each(run.table("cores"), "core", "core {}", _CORES)]
    series = [Series("machine", f"{one.group} {one.name}", one.unit, one.time_ns, one.values) for one in found]
    series += _columns(run.table("machine"), "machine", _MACHINE)
    series += _each(run.table("process_samples"), "pid", "process {}", _PROCESS)
    series += of_gpus(run)
    return [one for one in series if len(one.values)]


def of_others(run: Run) -> list[Series]:
    """What processes that are not traced used of the machine; none where that was not measured."""
    wanted = tuple(one for one in _MACHINE if one[0] == "others_cpu_pct")
    table = run.table("machine", ("time_ns", "interval_ns", "others_cpu_pct"))
    return [one for one in _columns(table, "machine", wanted) if len(one.values)]


def of_gpus(run: Run) -> list[Series]:
    """What was measured of each GPU."""
    if not run.count("gpu"):
        return []
    table = run.table("gpu", ("gpu", "time_ns", *(name for name, _, _ in _GPU)))
    numbers = sorted(set(pc.unique(table["gpu"]).to_pylist()))
    found = [
        one
        for gpu in numbers
        for one in _columns(table.filter(pc.equal(table["gpu"], gpu)), device_name(run, gpu), _GPU)
    ]
    return [one for one in found if len(one.values)]


def _each(table: pa.Table, key: str, title: str, columns: tuple[tuple[str, str, str], ...]) -> Iterator[Series]:
    for value in sorted(set(table[key].drop_null().to_pylist())):
        yield from _columns(table.filter(pc.equal(table[key], value)), title.format(value), columns)


def _columns(table: pa.Table, group: str, columns: tuple[tuple[str, str, str], ...]) -> Iterator[Series]:
    for column, name, unit in columns:
        known = table.filter(pc.is_finite(table[column]))
        time_ns = _values(known["time_ns"]).astype(np.int64)
        if column in _MEANS:
            # The first interval began before the run did.
            time_ns = np.maximum(time_ns - _values(known["interval_ns"]).astype(np.int64), np.minimum(time_ns, 0))
        yield Series(group, name, unit, time_ns, _values(known[column]).astype(np.float64))


def _values(column: pa.ChunkedArray) -> Any:
    return column.to_numpy(zero_copy_only=False)
