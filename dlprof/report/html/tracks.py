"""Tracks of a page's timeline: the events of a thread, a stream or a kind, as columns of numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dlprof.analysis.columns import Integers
from dlprof.analysis.stacks import package, shown_name
from dlprof.analysis.timeline import groups
from dlprof.analysis.timeline.slices import MISSING, Slices, What
from dlprof.analysis.timeline.threads import Thread
from dlprof.report import colours
from dlprof.report.html.names import Names, cut

_TOLD_ELSEWHERE = ("import", "epoch")
"""Calls that other parts of the page show: imports, by the dozen inside each other, are in the flame graph."""
_FRAMES_AROUND = 5
_OWN_CODE = "the script's own code"
_SHORTEST_NS = 64
_CELL = 8
"""Short events are joined within so many of their greatest length."""


@dataclass(frozen=True)
class Track:
    """Events of one thread, stream or kind that nest or do not touch; in order of their begin, outer ones first.

    Attributes:
        label: For people.
        group: `program`, `python`, `host` or `gpu`.
        place: What it stands under with others: the program, a device.
        lane: What tells it from those others.
        start_ns, dur_ns: Of each event, on the drawn axis (ns).
        name: Index into the names.
        number: Running number of a step, from 0; MISSING where an event has none. None: none has one.
        merged: How many events each of these stands for; None: one each.
        delay_ns: Time from the call that launched it to its begin; MISSING: not known. None: of none it is known.
    """

    label: str
    group: str
    start_ns: Integers
    dur_ns: Integers
    name: Integers
    number: Integers | None = None
    merged: Integers | None = None
    delay_ns: Integers | None = None
    place: str = ""
    lane: str = ""

    @property
    def begin_ns(self) -> int:
        """Begin of the first event; 0: there is none."""
        return int(self.start_ns.min()) if len(self.start_ns) else 0

    @property
    def end_ns(self) -> int:
        """End of the last event; 0: there is none."""
        return int((self.start_ns + self.dur_ns).max()) if len(self.start_ns) else 0


def of_group(group: groups.Group, names: Names) -> Iterator[Track]:
    """The tracks of a group of the timeline that have events."""
    is_program = group.name == groups.PROGRAM
    kind = "program" if is_program else "gpu" if group.name.startswith("GPU") else "host"
    for label, slices in group.tracks:
        shown = _without(slices, _TOLD_ELSEWHERE) if is_program and label.startswith("calls") else slices
        if len(shown.start_ns):
            track = _track(cut(label if is_program else f"{group.name}: {label}"), kind, shown, names)
            yield replace(track, place=cut(group.name), lane=cut(label))


def _without(slices: Slices, categories: Sequence[str]) -> Slices:
    kept = np.array([what.category not in categories for what in slices.whats], bool)
    return slices.take(np.flatnonzero(kept[slices.what]))


def _track(label: str, kind: str, slices: Slices, names: Names) -> Track:
    known = np.array([_named(what, names) for what in slices.whats] or [0], np.int64)
    name = known[slices.what]
    number = slices.own.get("step") if kind == "program" else None
    compiled = slices.own.get("compiled")
    if compiled is not None:
        again = np.array([_named_compiled(what, names) for what in slices.whats], np.int64)
        name = np.where(compiled > 0, again[slices.what], name)
    delay = slices.own.get("delay_ns") if kind == "gpu" else None
    return Track(label, kind, slices.start_ns, slices.dur_ns, name, number, delay_ns=delay)


def _named(what: What, names: Names) -> int:
    facts = what.facts
    if what.category == "phase":
        return names.number(what.name, colours.of_phase(what.name), kind=what.name)
    if "layer" in facts:
        told = (what.category, facts["category"], facts["layer"], facts["direction"], facts["op"])
        more = ", ".join(str(one) for one in dict.fromkeys(told) if one and one != what.name)
        colour = colours.of_event(what.category, str(facts["category"]))
        return names.number(what.name, colour, more, _kind(what.category, facts["category"]))
    more = ", ".join(f"{name} {value}" for name, value in facts.items() if value is not None)
    return names.number(what.name, colours.of_event(what.category), more, what.category.replace("_", " "))


def _kind(kind: str, category: object) -> str:
    """What an operator's colour stands for: its category, or what it is where it computes nothing."""
    return str(category or "no category") if colours.computes(kind) else kind


def _named_compiled(what: What, names: Names) -> int:
    return names.number(what.name, colours.COMPILED, "a graph was compiled in it", "compiled")


def of_thread(thread: Thread, names: Names, users: Collection[str] = ()) -> Track:
    """The innermost function of a thread's sampled stacks; the frames around it are said of it.

    Args:
        thread: The thread.
        names: Takes what its events are.
        users: Files of the user's own code.
    """
    start, dur, name = [], [], []
    for begin, length, frames in thread.rows:
        if frames:
            function, file, line = frames[0]
            around = " ← ".join(_frame(*frame) for frame in frames[1 : 1 + _FRAMES_AROUND])
            own = file in users
            whose, colour = (_OWN_CODE, colours.OWN_CODE) if own else (package(file), colours.of_package(package(file)))
            start.append(begin)
            dur.append(length)
            name.append(names.number(_frame(function, file, line), colour, around, whose))
    return Track(
        label=cut(f"{thread.title} (sampled)"),
        group="python",
        start_ns=np.array(start, np.int64),
        dur_ns=np.array(dur, np.int64),
        name=np.array(name, np.int64),
        place="Python, sampled",
        lane=cut(thread.title),
    )


def _frame(function: str, file: str, line: int) -> str:
    return f"{shown_name(function, file)} ({file}:{line})"


def thinned(tracks: Sequence[Track], most: int) -> list[Track]:
    """The tracks with at most about so many events: neighbours that are short, and close, become one.

    How short is decided for all tracks together, by doubling: what is long enough to be seen stays as it is.
    """
    limit_ns = _SHORTEST_NS
    thin = list(tracks)
    while sum(len(track.start_ns) for track in thin) > most and limit_ns < 1 << 62:
        thin = [_thin(track, limit_ns) for track in tracks]
        limit_ns *= 2
    return thin


def _thin(track: Track, limit_ns: int) -> Track:
    """Join runs of events that are shorter than a limit and lie in the same cell; the first names them."""
    if not len(track.start_ns):
        return track
    short = track.dur_ns < limit_ns
    cell = track.start_ns // (_CELL * limit_ns)
    same = short[1:] & short[:-1] & (cell[1:] == cell[:-1])
    first = np.flatnonzero(np.concatenate(([True], ~same)))
    count = np.diff(np.append(first, len(short)))
    ends = np.maximum.reduceat(track.start_ns + track.dur_ns, first)
    start = track.start_ns[first]
    number = None if track.number is None else track.number[first]
    delay = None if track.delay_ns is None else np.where(count == 1, track.delay_ns[first], MISSING)
    return replace(
        track, start_ns=start, dur_ns=ends - start, name=track.name[first], number=number, merged=count, delay_ns=delay
    )
