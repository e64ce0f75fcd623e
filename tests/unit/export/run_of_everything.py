"""A run with a bit of everything, and names that are out to do harm, for tests of exports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlprof.store.run import Run
from tests.unit.runs import MS, S, intervals, losses, make, manifest, phases, span, steps

HOSTILE = "=<script>alert('1')</script>|\"\\\x1b[31m\x00\n*é😀"
"""Markup, quotes, a formula, control codes, a line break and characters beyond ASCII."""
LONG = "k" * 10_000


def events(*rows: tuple[int, int, str, int, int], **changes: Any) -> list[dict[str, Any]]:
    """Rows of `kernel_events`: (operator, device, lane, start, duration) each, in ns."""
    return [
        {
            "op_id": op,
            "device": device,
            "lane": lane,
            "start_ns": start,
            "dur_ns": dur,
            "nested_ns": 0,
            "step": 0,
            "phase": "fit.steps",
            "window": 0,
            **changes,
        }
        for op, device, lane, start, dur in rows
    ]


def whole(path: Path, told: dict[str, Any] | None = None, **changes: list[dict[str, Any]]) -> Run:
    """3 steps, 2 epochs, 3 calls, 6 executions on 3 lanes, 3 stacks of 2 threads, and samples of the machine."""
    main = {"thread_id": 42, "thread": "MainThread"}
    tables: dict[str, list[dict[str, Any]]] = {
        "phases": phases(startup=2, fit_steps=5, fit_callbacks=1, teardown=2),
        "phase_intervals": intervals(
            ("import", 0, 2), ("fit.steps", 2, 7), ("fit.callbacks", 7, 8), ("teardown", 8, 10)
        ),
        "spans": [
            span("script", 0, 10, span_id=1, file=None, line=None),
            span("fit", 2, 8, span_id=2),
            span("import", 0, 2, name=HOSTILE, span_id=3),
        ],
        "steps": steps(
            3, input_ns=MS, call_offset_ns=2 * MS, call_ns=15 * MS, callbacks_ns=4 * MS, start_s=2.001, dur_ms=21
        ),
        "epochs": [
            {"loop_id": 1, "epoch": n, "start_ns": (2 + 3 * n) * S, "dur_ns": 3 * S, "steps": 2} for n in range(2)
        ],
        "metrics": [
            *losses(1.0, 0.5),
            {"loop_id": 1, "epoch": 0, "step": 1, "name": HOSTILE, "value": 0.25, "time_ns": 2 * S + 30 * MS},
        ],
        "kernel_ops": [
            {
                "op_id": 0,
                "kind": "kernel",
                "name": HOSTILE,
                "op": "MatMul",
                "category": "matmul",
                "layer": "dense",
                "direction": "forward",
                "flops": 1e6,
            },
            {"op_id": 1, "kind": "operator", "name": LONG},
        ],
        "kernel_events": events(
            (0, 0, "stream 7", 3_000_000_001, 100),
            (0, 0, "stream 7", 3_000_000_101, 100),
            (0, 0, "stream 7", 3_000_000_050, 100),  # overlaps the two before it in part
            (0, 0, "stream 9", 3_000_000_001, 0),
            (1, -1, "python", 3_000_000_000, 1000),
            (1, -1, "python", 3_000_000_000, 1000),
            delay_ns=7,
        ),
        "gc": [{"start_ns": S, "dur_ns": 5, "generation": 2, "collected": 9}],
        "stacks": [
            {**main, "start_ns": 0, "dur_ns": 3 * S, "stack_id": 0},
            {**main, "start_ns": 3 * S, "dur_ns": S, "stack_id": 1},
            {"thread_id": 43, "thread": HOSTILE, "start_ns": 5 * S, "dur_ns": S, "stack_id": 0},
        ],
        "frames": [
            {"stack_id": 0, "depth": 0, "function": "<module>", "file": "train.py", "line": 3},
            {"stack_id": 1, "depth": 0, "function": "<module>", "file": "train.py", "line": 3},
            {"stack_id": 1, "depth": 1, "function": HOSTILE, "file": "a b.py", "line": 9},
        ],
        "lines": [
            {
                "file": "train.py",
                "function": "train",
                "first_line": 3,
                "line": 3,
                "hits": 0,
                "time_ns": 0,
                "source": "def train():",
            },
            {
                "file": "train.py",
                "function": "train",
                "first_line": 3,
                "line": 4,
                "hits": 2,
                "time_ns": 12_345_678_901,
                "source": "    fit()",
            },
        ],
        "cores": [
            {"time_ns": n * S, "interval_ns": S, "core": 0, "busy_pct": value}
            for n, value in ((1, 50.0), (2, None), (3, 25.5))
        ],
        "gpu": [{"time_ns": S, "gpu": 0, "power_w": 70.5}],
        **changes,
    }
    return make(path, told or manifest(clock={"origin_perf_ns": 10**15, "origin_wall_ns": 1_800_000_000 * S}), **tables)
