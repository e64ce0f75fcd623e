"""Columns that have a value in every row, whatever was not measured: what a row is of, and when it was.

A table that lacks one is damaged, or not dlprof's. Other columns may be null, and are in tables of an older dlprof.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from dlprof.schema.vocabulary import LineSource

_SPAN = ("start_ns", "dur_ns")

NEVER_NULL: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        name: frozenset(columns)
        for name, columns in {
            "collectives": (*_SPAN, "kind", "ordinal"),
            "spans": (*_SPAN, "kind", "span_id"),
            "phases": ("phase", "dur_ns"),
            "phase_intervals": (*_SPAN, "phase"),
            "steps": (*_SPAN, "loop", "count"),
            "epochs": (*_SPAN, "loop_id", "epoch"),
            "metrics": ("name", "time_ns"),
            "lines": ("file", "function", "line", "time_ns"),
            "stacks": (*_SPAN, "stack_id"),
            "frames": ("stack_id", "depth", "function", "file"),
            "cores": ("time_ns", "interval_ns", "core"),
            "machine": ("time_ns", "interval_ns"),
            "process_samples": ("time_ns", "interval_ns"),
            "gpu": ("time_ns", "gpu"),
            "gc": _SPAN,
            "kernel_ops": ("op_id", "kind", "name"),
            "kernel_events": (*_SPAN, "op_id", "device", "window"),
            "kernel_totals": ("op_id", "device", "total_ns"),
            "kernel_counters": ("kernel", "counter"),
            "input_stages": ("window", "pipeline", "stage", "name", "element_count", "total_ns", "own_ns"),
            "kernel_windows": (*_SPAN, "window"),
            "gpu_gaps": (*_SPAN, "device"),
            "sources": ("file",),
            "skipped": ("source", "what", "events"),
            "probes": ("name", "state"),
            "health": ("slug", "severity", "message"),
        }.items()
    }
)

WORDS: Mapping[tuple[str, str], type[StrEnum]] = MappingProxyType({("lines", "how"): LineSource})
"""Columns that hold words of the vocabulary alone, and of which part; it knows those of older dlprofs, too."""
