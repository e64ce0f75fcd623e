"""What ran on the devices, as slices: kernels and operators by device and lane, and idle GPUs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import Integers
from dlprof.analysis.timeline.slices import MISSING, Slices, What, each_for_itself, numbers
from dlprof.store.run import Run

HOST = "host operators"
_PROCESS = ("host", "rank", "pid")
_LANE = (*_PROCESS, "device", "lane")
_EVENTS = (*_LANE, "op_id", "start_ns", "dur_ns", "delay_ns", "step", "phase", "window")
_OP_FACTS = ("op", "category", "layer", "direction", "flops", "bytes")
_GAP_FACTS = ("host_ns", "launch_ns", "wait_ns", "kernel", "blamed", "blamed_within", "blamed_at")


def kernels(run: Run) -> Iterator[tuple[str, str, Slices]]:
    """Executions by device and lane: (device, lane, slices); the host first, then GPUs by number."""
    table = run.table("kernel_events", _EVENTS)
    if not table.num_rows:
        return
    slices, several = _executions(run, table), _several(table)
    for place, positions in _places(table, _LANE):
        yield _device(run, place, several), str(place["lane"] or "?"), slices.take(positions)


def gaps(run: Run) -> Iterator[tuple[str, Slices]]:
    """Time in which a GPU had nothing to do: (device, slices)."""
    table = run.table("gpu_gaps")
    if not table.num_rows:
        return
    several = _several(run.table("kernel_events", _PROCESS))
    for place, positions in _places(table, (*_PROCESS, "device")):
        rows = table.take(positions).to_pylist()
        idle = [
            (row["start_ns"], row["dur_ns"], What("idle", "idle", {name: row[name] for name in _GAP_FACTS}))
            for row in rows
        ]
        yield _device(run, place, several), each_for_itself(idle)


def device_name(run: Run, device: int | None) -> str:
    """How a device is called: its number, and its name where it is known."""
    if device is None or device < 0:
        return HOST
    name = run.manifest.gpu_name(device)
    return f"GPU {device}" + (f" {name}" if name else "")


def _device(run: Run, place: Mapping[str, Any], several: Sequence[str]) -> str:
    """A device with what tells it from those of other processes, where there are some."""
    whose = ", ".join(f"{name} {place[name]}" for name in several)
    return device_name(run, place["device"]) + (f" ({whose})" if whose else "")


def _several(table: pa.Table) -> list[str]:
    """What a run has several of: hosts, ranks, processes."""
    return [name for name in _PROCESS if len(_codes(table[name])[1]) > 1]


def _places(table: pa.Table, columns: Sequence[str]) -> list[tuple[dict[str, Any], Integers]]:
    """The distinct values of the columns, and the rows that have them; by host, rank and device."""
    coded = {name: _codes(table[name]) for name in columns}
    number = _together([codes for codes, _ in coded.values()])
    order = np.argsort(number, kind="stable")
    places = [
        ({name: values[int(codes[rows[0]])] for name, (codes, values) in coded.items()}, rows)
        for rows in np.split(order, np.flatnonzero(np.diff(number[order])) + 1)
    ]
    return sorted(places, key=lambda place: (str(place[0]["host"]), place[0]["rank"] or 0, place[0]["device"] or 0))


def _executions(run: Run, table: pa.Table) -> Slices:
    """All executions; those of one operator, phase and window have in common what they are."""
    columns = [_codes(table[name]) for name in ("op_id", "phase", "window")]
    _, first, what = np.unique(_together([codes for codes, _ in columns]), return_index=True, return_inverse=True)
    ops = {row["op_id"]: row for row in run.rows("kernel_ops")}
    whats = []
    for at in first.tolist():
        op_id, phase, window = (values[int(codes[at])] for codes, values in columns)
        op = ops[op_id]
        facts = {**{name: op[name] for name in _OP_FACTS}, "phase": phase, "window": window}
        whats.append(What(op["name"], op["kind"], facts))
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
    number = np.zeros(len(codes[0]), np.int64)
    for column in codes:
        number = number * (int(column.max()) + 1) + column
    return number
