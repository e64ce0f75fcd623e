"""What ran on the devices, as slices: kernels and operators by device and lane, and idle GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.export.lanes import Integers
from dlprof.export.slices import MISSING, Slices, What, each_for_itself, numbers
from dlprof.store.run import Run

HOST = "host operators"
_COLUMNS = (
    "host",
    "rank",
    "pid",
    "op_id",
    "device",
    "lane",
    "start_ns",
    "dur_ns",
    "delay_ns",
    "step",
    "phase",
    "window",
)
_FACTS = ("op", "category", "layer", "direction", "flops", "bytes")


def kernels(run: Run) -> Iterator[tuple[str, str, Slices]]:
    """Executions by device and lane: (device, lane, slices)."""
    table = run.table("kernel_events", _COLUMNS)
    if not table.num_rows:
        return
    slices = _slices(run, table)
    places = {name: _codes(table[name]) for name in ("host", "rank", "pid", "device", "lane")}
    number = _together([codes for codes, _ in places.values()])
    order = np.argsort(number, kind="stable")
    several = [name for name in ("host", "rank", "pid") if len(places[name][1]) > 1]
    lanes = [
        ({name: values[int(codes[own[0]])] for name, (codes, values) in places.items()}, own)
        for own in np.split(order, np.flatnonzero(np.diff(number[order])) + 1)
    ]
    for at, own in sorted(lanes, key=lambda lane: [str(lane[0]["host"]), lane[0]["rank"] or 0, lane[0]["device"] or 0]):
        where = ", ".join(f"{name} {at[name]}" for name in several)
        device = device_name(run, at["device"]) + (f" ({where})" if where else "")
        yield device, str(at["lane"]), slices.take(own)


def gaps(run: Run) -> Iterator[tuple[str, Slices]]:
    """Time in which a GPU had nothing to do: (device, slices)."""
    table = run.table("gpu_gaps")
    for device in sorted(set(table["device"].to_pylist())):
        yield (
            device_name(run, device),
            each_for_itself(
                (
                    row["start_ns"],
                    row["dur_ns"],
                    What(
                        "idle",
                        "idle",
                        {name: row[name] for name in ("host_ns", "launch_ns", "wait_ns", "kernel", "blamed")},
                    ),
                )
                for row in table.filter(pc.equal(table["device"], device)).to_pylist()
            ),
        )


def device_name(run: Run, device: int | None) -> str:
    """How a device is called: its number, and its name where it is known."""
    if device is None or device < 0:
        return HOST
    gpus = {gpu.get("gpu"): gpu.get("name") for gpu in run.manifest.get("gpus") or []}
    return f"GPU {device}" + (f" {gpus[device]}" if gpus.get(device) else "")


def _slices(run: Run, table: pa.Table) -> Slices:
    """All executions; those of one operator, phase and window have in common what they are."""
    op, phase, window = (_codes(table[name]) for name in ("op_id", "phase", "window"))
    together, first, what = np.unique(
        _together([codes for codes, _ in (op, phase, window)]), return_index=True, return_inverse=True
    )
    ops = {row["op_id"]: row for row in run.rows("kernel_ops")}
    whats = [
        What(
            (of := ops[op[1][op[0][at]]])["name"],
            of["kind"],
            {
                **{name: of[name] for name in _FACTS},
                "phase": phase[1][phase[0][at]],
                "window": window[1][window[0][at]],
            },
        )
        for at in first[: len(together)]
    ]
    own = {name: numbers(table[name]) for name in ("step", "delay_ns")}
    start, dur = numbers(table["start_ns"]), numbers(table["dur_ns"])
    return Slices(start, dur, what.astype(np.int64), whats, {n: v for n, v in own.items() if (v != MISSING).any()})


def _codes(column: pa.ChunkedArray) -> tuple[Integers, list[Any]]:
    """The distinct values of a column, and which of them each row has."""
    plain = pc.cast(column, column.type.value_type) if pa.types.is_dictionary(column.type) else column
    encoded = pc.dictionary_encode(plain, null_encoding="encode").combine_chunks()
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False), np.int64), encoded.dictionary.to_pylist()


def _together(codes: list[Integers]) -> Integers:
    """One number for each combination."""
    found = np.zeros(len(codes[0]), np.int64)
    for one in codes:
        found = found * (int(one.max()) + 1) + one
    return found
