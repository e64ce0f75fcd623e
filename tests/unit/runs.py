"""Stored runs out of literal rows, for tests of what stands above the tables."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from msgspec import structs

from dlprof.__main__ import main
from dlprof.rundir import RunDir
from dlprof.schema.tables import SCHEMA_VERSION, TABLES
from dlprof.store.run import Run
from dlprof.store.writer import write_tables

MS = 1_000_000
S = 1_000_000_000
PROCESS = {"host": "h", "rank": 0, "pid": 42}


def table(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    """Rows as a table of the schema; what is not given is null."""
    process = PROCESS if "host" in TABLES[name].names else {}
    return pa.Table.from_pylist([{**process, **row} for row in rows], schema=TABLES[name])


def manifest(**changes: Any) -> dict[str, Any]:
    """The manifest of a finished run of train.py on torch."""
    return {
        "format": "dlprof.run/1",
        "tables_version": SCHEMA_VERSION,
        "state": "finished",
        "command": {"script": "train.py", "module": None, "program": None, "argv": []},
        "backend": {
            "name": "torch",
            "title": "torch",
            "source": "managed",
            "asynchronous_dispatch": False,
            "input_inside_step": False,
        },
        "keras": {"backend": "torch", "version": "3.15.0"},
        "engine": {"name": "torch", "version": "2.13"},
        "machine": {"host": "h", "system": "Linux", "cpu": "x", "cores": 2, "usable_cores": 2, "memory_bytes": 8},
        "interpreter": {"version": "3.11.7", "implementation": "cpython"},
        "packages": {},
        "environment": {},
        "config": {"python": None},
        "script_folder": "/nowhere",
        "clock": {"origin_perf_ns": 0},
        "created": "2026-11-21T10:00:00+00:00",
        "process": {"pid": 42, "exit_code": 0, "signal": None, "wall_ns": 10 * S},
        **changes,
    }


def phases(**seconds: float) -> list[dict[str, Any]]:
    """Rows of `phases`: `fit_steps=2` is 2 s of fit.steps; `fit` is their sum."""
    inside = {name: s for name, s in seconds.items() if name.startswith("fit_")}
    rows = [
        {"phase": name, "parent": None, "dur_ns": round(s * S), "count": 1}
        for name, s in seconds.items()
        if name not in inside
    ]
    if inside:
        rows.append({"phase": "fit", "parent": None, "dur_ns": round(sum(inside.values()) * S), "count": 1})
    for name, s in inside.items():
        rows.append({"phase": "fit." + name[4:], "parent": "fit", "dur_ns": round(s * S), "count": 1})
    return rows


def intervals(*parts: tuple[str, float, float]) -> list[dict[str, Any]]:
    """Rows of `phase_intervals`: (phase, begin, end) in seconds."""
    return [{"phase": n, "start_ns": round(a * S), "dur_ns": round(b * S) - round(a * S)} for n, a, b in parts]


def steps(count: int, *, start_s: float = 2.0, dur_ms: float = 20.0, **changes: Any) -> list[dict[str, Any]]:
    """Training steps, one after another, of which the first compiled nothing."""
    return [
        {
            "thread_id": 1,
            "loop": "train",
            "loop_id": 1,
            "epoch": 0,
            "step": n,
            "count": 1,
            "start_ns": int(start_s * S + n * dur_ms * MS),
            "dur_ns": int(dur_ms * MS),
            "input_ns": 0,
            "callbacks_ns": 0,
            "call_offset_ns": 0,
            "call_ns": int(dur_ms * MS),
            "compiled": False,
            "first": False,
            "samples": 128,
            **changes,
        }
        for n in range(count)
    ]


def fit_span(**facts: Any) -> dict[str, Any]:
    """The span of `fit` from 2 s to 8 s with facts of its training."""
    training = {
        "floatx": "float32",
        "layout": "channels_last",
        "run_eagerly": False,
        "jit_compile": False,
        "steps_per_execution": 1,
        "loss": "mse",
        "optimizer": {"class": "SGD", "learning_rate": 0.01},
        "weights": {"count": 10, "dtype": "float32", "sums": [[10, 0.5, 2.5]]},
        "threads": {"usable_cores": 2, "torch": 2},
        "flags": {},
        **facts.pop("training", {}),
    }
    detail = {
        "training": training,
        "batch_size": 128,
        "samples": 1280,
        "data": [{"shape": [1280, 4], "dtype": "float32", "mean": 0.5}],
        "model": {
            "layers": [{"name": "dense", "class": "Dense"}],
            "models": [],
            "optimizer": {"name": "sgd", "class": "SGD"},
        },
        **facts,
    }
    return span("fit", 2.0, 8.0, name="fit", span_id=1, detail=json.dumps(detail))


def span(kind: str, begin_s: float, end_s: float, **changes: Any) -> dict[str, Any]:
    """A row of `spans` of the main thread."""
    return {
        "thread_id": 1,
        "thread": "MainThread",
        "span_id": 2,
        "parent_id": None,
        "kind": kind,
        "name": kind,
        "start_ns": round(begin_s * S),
        "dur_ns": round(end_s * S) - round(begin_s * S),
        "ended": True,
        "file": "train.py",
        "line": 7,
        "detail": None,
        **changes,
    }


def losses(*values: float) -> list[dict[str, Any]]:
    """Rows of `metrics`: the loss of each epoch."""
    return [
        {"loop_id": 1, "epoch": n, "step": None, "name": "loss", "value": v, "time_ns": 0} for n, v in enumerate(values)
    ]


def window(
    kernels: list[dict[str, Any]], *, begin_s: float = 3.0, count: int = 10, dur_ms: float = 20.0
) -> dict[str, Any]:
    """Tables of a kernel window of `count` steps: each kernel {op, category, layer, direction, ms} runs once a step."""
    ops, events = [], []
    for number, one in enumerate(kernels):
        ops.append(
            {
                "op_id": number,
                "kind": one.get("kind", "operator"),
                "name": one.get("name", one["op"]),
                **{n: one.get(n) for n in ("op", "category", "layer", "direction", "file", "line")},
            }
        )
    for step in range(count):
        at = int(begin_s * S + step * dur_ms * MS)
        for number, one in enumerate(kernels):
            ns = int(one["ms"] * MS)
            events.append(
                {
                    "op_id": number,
                    "device": one.get("device", -1),
                    "lane": one.get("lane", "t"),
                    "start_ns": at,
                    "dur_ns": ns,
                    "nested_ns": 0,
                    "step": step,
                    "phase": "fit.steps",
                    "window": 0,
                }
            )
            at += ns
    row = {
        "window": 0,
        "engine": "torch",
        "source": "w",
        "loop": "train",
        "start_ns": round(begin_s * S),
        "dur_ns": int(count * dur_ms * MS),
        "first_step": 50,
        "steps": count,
        "start_cost_ns": 0,
        "stop_cost_ns": 0,
        "dropped": 0,
    }
    return {"kernel_ops": ops, "kernel_events": events, "kernel_windows": [row]}


def make(path: Path, told: dict[str, Any] | None = None, **tables: list[dict[str, Any]]) -> Run:
    """Write a run folder and open it."""
    folder = RunDir(path)
    folder.tables.mkdir(parents=True)
    folder.raw.mkdir()
    content = told or manifest()
    folder.manifest_path.write_text(json.dumps(content))
    write_tables(folder.tables, {name: table(name, rows) for name, rows in tables.items()})
    return Run(folder, folder.read_manifest())


def lasting(run: Run, wall_ns: int) -> Run:
    """The run with another wall time."""
    process = structs.replace(run.manifest.process, wall_ns=wall_ns)
    return replace(run, manifest=structs.replace(run.manifest, process=process))


def dlprof(*arguments: object) -> int:
    """The command line with these arguments; its exit code."""
    with patch.object(sys, "argv", ["dlprof", *(str(one) for one in arguments)]):
        return main()


class InMemory(Run):
    """A run whose tables are in no file: for what sees nothing but them, a third of the time is writing and reading."""

    def has(self, name: str) -> bool:
        """Whether it was given."""
        return name in self._tables


def held(path: Path, told: dict[str, Any] | None = None, **tables: list[dict[str, Any]]) -> Run:
    """A run folder with nothing but its manifest, and the tables of its run in memory."""
    folder = RunDir(path)
    path.mkdir(parents=True)
    folder.manifest_path.write_text(json.dumps(told or manifest()))
    return InMemory(folder, folder.read_manifest(), {name: table(name, rows) for name, rows in tables.items() if rows})


def trained(path: Path, told: dict[str, Any] | None = None, **changes: list[dict[str, Any]]) -> Run:
    """A run of 10 s: 2 s of import, 6 s of fit with 1 s of callbacks, 2 s of teardown; 250 steps of 20 ms."""
    return make(path, told, **{**training(), **changes})


def training() -> dict[str, list[dict[str, Any]]]:
    """Tables of such a run."""
    tables = {
        "phases": phases(startup=2, fit_steps=5, fit_callbacks=1, teardown=2),
        "phase_intervals": intervals(
            ("import", 0, 2), ("fit.steps", 2, 7), ("fit.callbacks", 7, 8), ("teardown", 8, 10)
        ),
        "steps": steps(250),
        "spans": [fit_span()],
        "metrics": losses(1.0, 0.5),
    }
    tables["phases"][0]["phase"] = "import"
    return tables
