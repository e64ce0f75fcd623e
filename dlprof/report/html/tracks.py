"""Tracks of a page's timeline: the events of a thread, a stream or a kind, as columns of numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from dlprof.analysis.stacks import Frame, package, shown_name
from dlprof.analysis.timeline import groups
from dlprof.analysis.timeline.slices import Slices, What
from dlprof.report import colours
from dlprof.report.html.names import Names, cut
from dlprof.report.html.thinning import Track

TOLD_ELSEWHERE = ("import", "epoch")
"""Calls that other parts of the page show: imports, by the dozen inside each other, are in the flame graph."""
_FRAMES_AROUND = 5
_OWN_CODE = "the script's own code"


def of_group(group: groups.Group, names: Names) -> Iterator[Track]:
    """The tracks of a group of the timeline that have events."""
    is_program = group.name == groups.PROGRAM
    kind = "program" if is_program else "gpu" if group.name.startswith("GPU") else "host"
    for label, slices in group.tracks:
        shown = _without(slices, TOLD_ELSEWHERE) if is_program and label.startswith("calls") else slices
        if len(shown.start_ns):
            track = _track(cut(label if is_program else f"{group.name}: {label}"), kind, shown, names)
            yield replace(track, place=cut(group.name), lane=cut(label))


def _without(slices: Slices, categories: Sequence[str]) -> Slices:
    kept = np.array([what.category not in categories for what in slices.whats], bool)
    return slices.take(np.flatnonzero(kept[slices.what]))


def _track(label: str, kind: str, slices: Slices, names: Names) -> Track:
    known = np.array([named(what, names) for what in slices.whats] or [0], np.int64)
    name = known[slices.what]
    number = slices.own.get("step") if kind == "program" else None
    compiled = slices.own.get("compiled")
    if compiled is not None:
        again = np.array([named_compiled(what, names) for what in slices.whats], np.int64)
        name = np.where(compiled > 0, again[slices.what], name)
    delay = slices.own.get("delay_ns") if kind == "gpu" else None
    return Track(label, kind, slices.start_ns, slices.dur_ns, name, number, delay_ns=delay)


def named(what: What, names: Names) -> int:
    """The number of the name of what a slice is."""
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


def named_compiled(what: What, names: Names) -> int:
    """The same of a step in which a graph was compiled."""
    return names.number(what.name, colours.COMPILED, "a graph was compiled in it", "compiled")


def named_stack(frames: Sequence[Frame], names: Names, users: Collection[str]) -> int:
    """The name of a stack's innermost function; the frames around it are said of it.

    Args:
        frames: Innermost first; at least one.
        names: Takes the name.
        users: Files of the user's own code.
    """
    function, file, line = frames[0]
    around = " ← ".join(_frame(*frame) for frame in frames[1 : 1 + _FRAMES_AROUND])
    own = file in users
    whose, colour = (_OWN_CODE, colours.OWN_CODE) if own else (package(file), colours.of_package(package(file)))
    return names.number(_frame(function, file, line), colour, around, whose)


def _frame(function: str, file: str, line: int) -> str:
    return f"{shown_name(function, file)} ({file}:{line})"
