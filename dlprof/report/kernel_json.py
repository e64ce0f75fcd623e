"""Tables of kernels as JSON (`dlprof.kernels/1`)."""

from __future__ import annotations

from typing import Any

from dlprof.analysis.kernels import Kernels, Row

SCHEMA = "dlprof.kernels/1"
KEYS = ("step", "layer", "direction", "op", "category", "name", "kind", "device")


def as_json(kernels: Kernels, by: str, phase: str | None) -> dict[str, Any]:
    """All rows. See docs/json.md."""
    return {
        "schema": SCHEMA,
        "by": by,
        "phase": phase,
        "rows": [_json_row(row, kernels) for row in kernels.rows],
        "all_ns": kernels.all_ns,
        "window_ns": kernels.window_ns,
        "unattributed_ns": kernels.unattributed_ns,
        "dropped_events": kernels.dropped_events,
        "aggregated": kernels.aggregated,
    }


def _json_row(row: Row, kernels: Kernels) -> dict[str, Any]:
    return {
        **{key: row.keys[key] for key in KEYS if key in row.keys},
        "count": row.count,
        "total_ns": row.total_ns,
        "self_ns": row.self_ns,
        "union_ns": row.union_ns,
        "mean_ns": round(row.mean_ns),
        "p95_ns": None if row.p95_ns is None else round(row.p95_ns),
        "share": row.self_ns / kernels.all_ns if kernels.all_ns else None,
        "share_of_step": row.union_ns / kernels.window_ns if row.union_ns is not None and kernels.window_ns else None,
        "launch_delay_ns": None if row.delay_ns is None else round(row.delay_ns),
        "flops": row.flops,
        "bytes": row.bytes,
    }
