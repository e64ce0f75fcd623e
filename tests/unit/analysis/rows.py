"""Literal rows of kernels and steps in nanoseconds, and runs of them that need no folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from dlprof.rundir import RunDir
from dlprof.schema.manifest import Manifest
from dlprof.schema.tables import TABLES
from dlprof.store.run import Run

CPU = -1


def in_memory(manifest: Manifest | None = None, **tables: pa.Table) -> Run:
    """A run of these tables."""
    whole = {name: tables.get(name, schema.empty_table()) for name, schema in TABLES.items()}
    return Run(RunDir(Path("run")), manifest or Manifest(), whole)


def op(
    number: int, kind: str, name: str, layer: str | None = None, direction: str | None = None, **more: Any
) -> dict[str, Any]:
    """A row of kernel_ops."""
    return {
        "op_id": number,
        "kind": kind,
        "name": name,
        "op": name,
        "category": "other",
        "layer": layer,
        "direction": direction,
        **more,
    }


def event(number: int, start: int, dur: int, device: int = CPU, **more: Any) -> dict[str, Any]:
    """A row of kernel_events, in window 0."""
    return {
        "op_id": number,
        "device": device,
        "lane": "0",
        "start_ns": start,
        "dur_ns": dur,
        "nested_ns": 0,
        "window": 0,
        **more,
    }


def step(number: int, start: int, dur: int, **more: Any) -> dict[str, Any]:
    """A row of steps: it waits 5, and its call begins 10 after its start and lasts 80 % of the step."""
    return {
        "thread_id": 1, "loop": "train", "loop_id": 1, "epoch": 0, "step": number, "count": 1, "start_ns": start, "dur_ns": dur,
        "input_ns": 5, "callbacks_ns": 0, "call_offset_ns": 10, "call_ns": dur * 8 // 10, "compiled": False, "first": False, **more,
    }  # fmt: skip


def window(begin: int, end: int, steps: int, **more: Any) -> dict[str, Any]:
    """A row of kernel_windows: window 0, of training on torch."""
    return {
        "window": 0, "engine": "torch", "source": "w", "loop": "train", "start_ns": begin, "dur_ns": end - begin,
        "first_step": 0, "steps": steps, "start_cost_ns": 0, "stop_cost_ns": 0, "dropped": 0, **more,
    }  # fmt: skip
