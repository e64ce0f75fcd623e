"""Takes a trace that holds several processes apart: their times are never added."""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from dlprof.ingest.artifact import PIDS
from dlprof.ingest.kernels.event_store import EventStore
from dlprof.ingest.kernels.events import CPU
from dlprof.ingest.kernels.trace import Trace

PROCESSES_AT_MOST = 64
"""Processes that have a trace of their own; some makers number with them what are none."""
REST = "all further processes"
NOBODY = "no process told"
NAME_AT_MOST = 80
_OF_ONE = ("rank", "host")
"""Facts of a whole file that are of one of its processes, nobody knows of which."""


def facts(process: Hashable, name: str | None, path: Path) -> dict[str, Any]:
    """What tells a process of a file from the others.

    Args:
        process: What the file calls it by: a number, or a text.
        name: What else it calls it; None: nothing.
        path: The file, whose clock its processes share.
    """
    number = process if type(process) is int and process in PIDS else _made_up(process)
    text = None if type(process) is int else str(process)[:NAME_AT_MOST]
    said = f"{name}, {text}" if name and text else name or text
    # Where the file has texts in place of numbers, or too large ones, nobody knows the process by this one.
    return {"pid": number, "process": said, "is_numbered": number == process, "clock": f"that of {path.name}"}


def _made_up(process: Hashable) -> int:
    return zlib.crc32(str(process).encode("utf-8", "replace")) % PIDS.stop


def told_apart(
    trace: Trace,
    whose: Sequence[Hashable],
    names: Mapping[Any, str],
    own: Mapping[Any, Mapping[str, Any]] = MappingProxyType({}),
) -> list[Trace]:
    """A trace for each process, in the order in which they come; all is one where that is not known of a device.

    Args:
        trace: The trace of all, which is given up where there are several.
        whose: The process of each of its lanes; None: the file does not tell it.
        names: What processes are called besides.
        own: Facts that are of one process.
    """
    used = [(whose[lane], trace.lanes[lane].device) for lane in _lanes_in_use(trace)]
    processes = {process for process, _ in used} - {None}
    if len(processes) < 2:
        return [trace]
    if any(process is None and device != CPU for process, device in used):
        text = (
            f"{trace.path.name} holds {len(processes)} processes, and does not say which of them launched what ran "
            "on a device: they are told as one, the times of their operators are added."
        )
        trace.tell("trace-processes-joined", "warning", text, len(processes))
        return [trace]
    made = {process: facts(process, names.get(process), trace.path) for process in (*processes, NOBODY, REST)}
    each = {process: {**told, **own.get(process, {})} for process, told in made.items()}
    return _parts(trace, [NOBODY if process is None else process for process in whose], each)


def _lanes_in_use(trace: Trace) -> list[int]:
    """The lanes that have events: some were only named."""
    shown = np.zeros(len(trace.lanes), bool)
    for chunk in trace.events.chunks():
        shown[np.unique(chunk.lane)] = True
    return [int(lane) for lane in np.flatnonzero(shown)]


def _parts(trace: Trace, whose: Sequence[Hashable], each: Mapping[Hashable, Mapping[str, Any]]) -> list[Trace]:
    order = list(dict.fromkeys(whose[lane] for lane in _lanes_in_use(trace)))
    kept = order if len(order) <= PROCESSES_AT_MOST + 1 else [*order[:PROCESSES_AT_MOST], REST]
    numbers = {process: number for number, process in enumerate(kept)}
    of_lane = np.asarray([numbers.get(process, len(kept) - 1) for process in whose], np.int64)
    stores = [EventStore() for _ in kept]
    for chunk in trace.events.chunks():
        of_event = of_lane[chunk.lane]
        for number in np.unique(of_event).tolist():
            stores[number].add(chunk.select(of_event == number), counted=False)
    trace.events.clear()
    shared = {key: value for key, value in trace.facts.items() if key not in _OF_ONE}
    made = [
        replace(
            trace,
            events=events,
            facts={**shared, **each[process]},
            health=[],
            skipped=[],
            dropped=0,
        )
        for process, events in zip(kept, stores, strict=True)
        if events.size
    ]
    if made:  # what is to be said of the whole file is said once
        made[0] = replace(made[0], health=trace.health, skipped=trace.skipped, dropped=trace.dropped)
    return made or [trace]
