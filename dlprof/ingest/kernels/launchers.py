"""Which process launched what ran on a device, where a trace of several names devices and processes alike."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dlprof.ingest.kernels.events import CPU, NONE, Events, Integers
from dlprof.ingest.kernels.trace import Trace
from dlprof.schema.vocabulary import EventKind

_OF_PROGRAMS = (EventKind.OPERATOR, EventKind.PYTHON)
_CALLS = (EventKind.RUNTIME, EventKind.WAIT)
_ENOUGH = 0.9
"""A device is of a process that called for this share of its kernels, each before it began ..."""
_CLEAR = 0.95
"""... if no other did for this part of them: processes count their calls alike, so that numbers are the same."""
_Linked = tuple[Integers, Integers]
"""Links, and begins (ns), of some events."""
_LABELLED = re.compile(r"(.*\D)-?\d+", re.DOTALL)


def of_lanes(trace: Trace, names: Sequence[str]) -> list[str | None]:
    """The process of each lane; None: of a device, and nobody knows whose.

    Only what shows work of a program is a process: calls of a runtime and ranges may be numbered otherwise.

    Args:
        trace: The trace; its kernels and the calls that launched them share links.
        names: What the file calls the process of each lane; for lanes of devices that may be the device.
    """
    programs = _programs(trace, names)
    if len(programs) < 2:
        return [next(iter(programs), "")] * len(names)
    devices = {name for name, lane in zip(names, trace.lanes, strict=True) if lane.device != CPU}
    found = {name: _of_label(name, programs) for name in devices}
    unknown = [name for name, process in found.items() if process is None]
    if unknown:
        found.update(_by_calls(trace, names, unknown))
    if None in found.values():
        found.update(_by_place(_places(trace, names), programs, found))
    return [name if lane.device == CPU else found[name] for name, lane in zip(names, trace.lanes, strict=True)]


def _programs(trace: Trace, names: Sequence[str]) -> list[str]:
    """Names of the processes that show work of programs, in order."""
    shown = np.zeros(len(names), bool)
    for chunk in trace.events.chunks():
        shown[np.unique(chunk.lane[chunk.is_kind(*_OF_PROGRAMS) & (chunk.device == CPU)])] = True
    return list(dict.fromkeys(name for name, is_shown in zip(names, shown.tolist(), strict=True) if is_shown))


def _of_label(device: str, programs: Sequence[str]) -> str | None:
    """The only process that has the label of a device, as in `[TP00] 0` and `[TP00] 4711`."""
    label = _label(device)
    same = [process for process in programs if label and _label(process) == label]
    return same[0] if len(same) == 1 else None


def _label(name: str) -> str:
    match = _LABELLED.fullmatch(name)
    return match[1].strip() if match else ""


@dataclass(frozen=True)
class _Place:
    """Where the events of a process, or of a device, stand in a file: number of the first and of the last."""

    first: int
    last: int


def _places(trace: Trace, names: Sequence[str]) -> dict[tuple[str, bool], _Place]:
    """The place of each process and device, by its name and whether it is a device."""
    first, last = np.full(len(names), np.iinfo(np.int64).max), np.full(len(names), -1)
    done = 0
    for chunk in trace.events.chunks():
        at = np.arange(done, done + len(chunk))
        np.minimum.at(first, chunk.lane, at)
        np.maximum.at(last, chunk.lane, at)
        done += len(chunk)
    found: dict[tuple[str, bool], _Place] = {}
    for number in np.flatnonzero(last >= 0).tolist():
        key = names[number], trace.lanes[number].device != CPU
        known = found.get(key, _Place(int(first[number]), int(last[number])))
        found[key] = _Place(min(known.first, int(first[number])), max(known.last, int(last[number])))
    return found


def _by_place(
    places: Mapping[tuple[str, bool], _Place], programs: Sequence[str], known: Mapping[str, str | None]
) -> Mapping[str, str | None]:
    """All devices by the place of their events, where traces stand in the file one behind the other.

    So that all events of a process, and those of at least one device, stand before the first one of the next process.
    """
    order = sorted(programs, key=lambda process: places[process, False].first)
    ends = [places[process, False].first for process in order[1:]]
    if any(places[process, False].last >= end for process, end in zip(order, ends, strict=False)):
        return known
    found: dict[str, str | None] = {}
    for device in known:
        place = places.get((device, True))
        if place is None:  # nothing ran on it
            continue
        at = bisect.bisect_right(ends, place.first)
        if place.first < places[order[0], False].first or bisect.bisect_right(ends, place.last) != at:
            return known
        found[device] = order[at]
    agree = all(process in (None, found.get(device)) for device, process in known.items())
    return found if agree and set(found.values()) == set(order) else known


def _by_calls(trace: Trace, names: Sequence[str], devices: Sequence[str]) -> Mapping[str, str | None]:
    """The process that clearly launched what ran on each device; None: there is none."""
    order = list(dict.fromkeys(names))
    numbers = {name: number for number, name in enumerate(order)}
    of_lane = np.asarray([numbers[name] for name in names], np.int64)
    calls: dict[str, list[_Linked]] = {}
    ran: dict[str, list[_Linked]] = {device: [] for device in devices}
    for chunk in trace.events.chunks():
        linked = chunk.link > NONE
        on_host = chunk.device == CPU
        for number, part in _grouped(chunk.select(chunk.is_kind(*_CALLS) & linked & on_host), of_lane):
            calls.setdefault(order[number], []).append(part)
        for number, part in _grouped(chunk.select(linked & ~on_host), of_lane):
            if order[number] in ran:
                ran[order[number]].append(part)
    known = {process: _joined(parts) for process, parts in calls.items()}
    return {device: _launcher(_joined(parts), known) if parts else None for device, parts in ran.items()}


def _grouped(events: Events, of_lane: Integers) -> Iterator[tuple[int, _Linked]]:
    """Links and begins of events, by the process of their lane."""
    code = of_lane[events.lane]
    order = np.argsort(code, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(code[order])) + 1) if len(order) else ():
        yield int(code[rows[0]]), (events.link[rows], events.start[rows])


def _joined(parts: Sequence[_Linked]) -> _Linked:
    links, starts = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(links, kind="stable")
    return links[order], starts[order]


def _launcher(kernels: _Linked, calls: Mapping[str, _Linked]) -> str | None:
    links, starts = kernels
    shares: dict[str, float] = {}
    for process, (known, called) in calls.items():
        at = np.minimum(np.searchsorted(known, links), len(known) - 1)
        shares[process] = float(np.mean((known[at] == links) & (called[at] <= starts)))
    best, *others = sorted(shares, key=lambda process: -shares[process]) or [""]
    if shares.get(best, 0) < _ENOUGH or (others and shares[others[0]] >= _CLEAR * shares[best]):
        return None
    return best
