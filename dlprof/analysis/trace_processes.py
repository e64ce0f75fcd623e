"""The processes of a run of foreign traces, where its files hold several, and how much each worked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dlprof.analysis.columns import integers
from dlprof.schema.vocabulary import EventKind
from dlprof.store.run import Run

Process = tuple[str | None, int | None, int | None]
"""Host, rank and number of a process."""


@dataclass(frozen=True)
class ProcessTime:
    """A process of a foreign trace.

    Attributes:
        process: Its host, rank and number.
        name: What the file calls it, and its number, as far as the file has them.
        operators_ns: Own time of the operators of all its threads (ns).
        span_ns: From its first to its last event (ns).
    """

    process: Process
    name: str
    operators_ns: int
    span_ns: int


def named(facts: Mapping[str, Any]) -> str:
    """What a process is called by the facts of its trace."""
    name, number = facts.get("process"), f"process {facts.get('pid')}"
    if not name:
        return number
    return f"{name}, {number}" if facts.get("is_numbered", True) else str(name)


def of_run(run: Run) -> list[ProcessTime]:
    """The processes, those first whose operators took longest; none where all files are of one."""
    windows = [row for row in run.rows("kernel_windows") if row["dur_ns"]]
    if len({_process(row) for row in windows}) < 2:
        return []
    sources, times = run.rows("sources"), operator_times(run)
    ranks, hosts = {row["rank"] for row in windows}, {row["host"] for row in windows}
    spans: dict[Process, int] = {}
    names: dict[Process, str] = {}
    for row in windows:
        process = _process(row)
        spans[process] = spans.get(process, 0) + row["dur_ns"]
        facts = json.loads(sources[row["window"]]["facts"] or "{}") if row["window"] < len(sources) else {}
        parts = [
            f"rank {row['rank']}" if len(ranks) > 1 else "",
            named({"pid": row["pid"], **facts}) if row["pid"] else "",
            row["host"] or "" if len(hosts) > 1 else "",
        ]
        names.setdefault(process, ", ".join(part for part in parts if part))
    found = [ProcessTime(one, names[one], times.get(one, 0), span) for one, span in spans.items()]
    return sorted(found, key=lambda one: -one.operators_ns)


def _process(row: Mapping[str, Any]) -> Process:
    return row["host"], row["rank"], row["pid"]


def operator_times(run: Run) -> Mapping[Process, int]:
    """Own time of the operators of each process (ns); all events are read for it, once."""
    return run.once("operator times of processes", _operator_times)


def _operator_times(run: Run) -> Mapping[Process, int]:
    operators = np.asarray([op["op_id"] for op in run.rows("kernel_ops") if op["kind"] == EventKind.OPERATOR.word])
    times: dict[Process, int] = {}
    for piece in run.pieces("kernel_events", ("host", "rank", "pid", "op_id", "dur_ns", "nested_ns")):
        own = np.maximum(integers(piece["dur_ns"]) - integers(piece["nested_ns"]), 0)
        own[~np.isin(integers(piece["op_id"]), operators)] = 0
        sums = piece.select(["host", "rank", "pid"]).append_column("own", [own]).group_by(["host", "rank", "pid"])
        for row in sums.aggregate([("own", "sum")]).to_pylist():
            process = _process(row)
            times[process] = times.get(process, 0) + row["own_sum"]
    return times
