"""What the processes of a run are: which of them are workers, and what they are called."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dlprof.pipeline.workspace import Workspace
from dlprof.schema.program import others_than_program
from dlprof.schema.tables import TABLES
from dlprof.schema.vocabulary import ProcessRole

_WORKER = re.compile(
    r"--multiprocessing-fork|from (?:multiprocessing|multiprocess|billiard)\.spawn import"
    r"|-m joblib\.externals\.loky\.backend\.popen_loky"
)
"""Commands with which `multiprocessing` and its kin start a worker in a new interpreter."""
_LOKY_NAME = re.compile(r"--process-name (\S+)")
_HELPER = re.compile(r"from \w+(?:\.\w+)*\.(resource_tracker|semaphore_tracker|forkserver) import main")
"""Commands with which it starts what it needs itself."""


def ends(run: Workspace) -> Mapping[int, int] | None:
    """Process to its end (ns), of those below the traced one that have ended; None: they were not looked at."""
    table = run.tables.get("processes", ("pid", "end_ns"))
    if table is None:
        return None
    rows = table.to_pylist()
    times = Counter(row["pid"] for row in rows)  # of a number that was given twice the stacks cannot be told apart
    return {
        row["pid"]: row["end_ns"]
        for row in rows
        if row["end_ns"] is not None and times[row["pid"]] == 1 and row["pid"] != run.process.pid
    }


def settle(run: Workspace, sampled_workers: Collection[int]) -> frozenset[int]:
    """Give the processes their roles and names; returns those whose stacks are not the program's.

    Args:
        run: The run, with its tables `processes` and `stacks`.
        sampled_workers: Processes that `multiprocessing` started, by their stacks.
    """
    table = run.tables.get("processes")
    rows = [_settled(row, run, sampled_workers) for row in table.to_pylist()] if table is not None else []
    if rows:
        run.tables.put({"processes": pa.Table.from_pylist(rows, schema=TABLES["processes"])})
    workers = {row["pid"] for row in rows if row["role"] == ProcessRole.WORKER} | set(sampled_workers)
    return others_than_program(_sampled(run), run.process.pid, workers)


def _sampled(run: Workspace) -> set[int]:
    pids: set[int] = set()
    for piece in run.tables.pieces("stacks", ("pid",)):
        pids.update(pc.unique(piece["pid"]).to_pylist())
    return pids


def _settled(row: Mapping[str, Any], run: Workspace, sampled_workers: Collection[int]) -> Mapping[str, Any]:
    """A process with its role, its name and the line that started it."""
    file, line = run.stream.started_at.get(row["pid"], (None, None))
    place = {"file": run.names.short(file), "line": line} if file else {}
    return {**_named(row, run, sampled_workers), **place}


def _named(row: Mapping[str, Any], run: Workspace, sampled_workers: Collection[int]) -> Mapping[str, Any]:
    if row["role"] == ProcessRole.MAIN:
        return row
    told = run.stream.children.get(row["pid"])
    command = row["command"] or ""
    if told is not None or row["pid"] in sampled_workers or _WORKER.search(command):
        loky = _LOKY_NAME.search(command)
        return {**row, "role": ProcessRole.WORKER, "name": told or (loky[1] if loky else None)}
    helper = _HELPER.search(command)
    return {**row, "name": f"multiprocessing {helper[1].replace('_', ' ')}"} if helper else row
