"""Compares what is told of a script with what is known of it."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Any

from tests.public.case import Case, Loop

_SHOWN = 12


@dataclass(frozen=True)
class Outcome:
    """How a program ended, and what it printed."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Told:
    """What a report says that is checked.

    Attributes:
        loops: Its loops, sorted.
        places: Lines of these loops, for people.
        script_percent: Share of `script` in the wall time.
        layers: Names of layers that kernels have.
        unnamed_percent: Share of the kernels' time that has no layer; None: no kernels.
        errors: Messages of health that are errors.
    """

    loops: tuple[Loop, ...]
    places: tuple[str, ...]
    script_percent: float
    layers: frozenset[str]
    unnamed_percent: float | None
    errors: tuple[str, ...]


def told(report: dict[str, Any]) -> Told:
    """What `dlprof report --json` says."""
    places = report["loop_places"]
    loops = [Loop(one["name"], one["steps"], one["epochs"], one["runs"]) for one in places]
    kernels = report["kernels"]
    every = kernels["all_ns"] if kernels else 0
    return Told(
        _sorted(loops),
        tuple(f"{one['name']}@{one['line']} {one['how']}" for one in places),
        _script_percent(report),
        frozenset(row["layer"] for row in kernels["rows"] if row["layer"]) if kernels else frozenset(),
        100 * kernels["unattributed_ns"] / every if every else None,
        tuple(line["message"] for line in report["health"] if line["severity"] == "error"),
    )


def _script_percent(report: dict[str, Any]) -> float:
    spent = sum(phase["dur_ns"] for phase in report["phases"] if phase["name"] == "script" and phase["parent"] is None)
    return 100.0 * spent / report["wall_ns"] if report["wall_ns"] else 0.0


def _sorted(loops: list[Loop]) -> tuple[Loop, ...]:
    return tuple(sorted(loops, key=lambda one: (one.name, one.steps, one.epochs or 0, one.runs)))


def complaints(case: Case, bare: Outcome, traced: Outcome, found: Told) -> list[str]:
    """What is not as it must be: one sentence each."""
    wrong = _differences(case, bare, traced)
    expected = _sorted(list(case.loops))
    if found.loops != expected:
        wrong.append(f"loops are {_shown(found.loops)}, not {_shown(expected)}")
    if found.script_percent > case.script_percent:
        wrong.append(f"script is {found.script_percent:.1f} % of the wall time, not {case.script_percent:g} % at most")
    missing = [name for name in case.layers if name not in found.layers]
    if missing:
        wrong.append(f"no kernels of the layers {missing}, but of {sorted(found.layers)[:_SHOWN]}")
    return wrong + [f"health: {message}" for message in found.errors]


def _differences(case: Case, bare: Outcome, traced: Outcome) -> list[str]:
    wrong = []
    if bare.code != 0:
        wrong.append(f"without dlprof it ends with {bare.code}: {bare.err.strip()[-800:]}")
    if traced.code != bare.code:
        wrong.append(f"exit code {traced.code}, without dlprof {bare.code}: {traced.err.strip()[-800:]}")
    ours, theirs = (masked(one.out, case.varies).splitlines() for one in (traced, bare))
    if ours != theirs:
        lines = list(difflib.unified_diff(theirs, ours, "bare", "traced", n=0, lineterm=""))
        wrong.append("it prints something else: " + " | ".join(lines[:_SHOWN]))
    return wrong


def masked(text: str, varies: tuple[str, ...]) -> str:
    """A text without what is never twice the same."""
    for pattern in varies:
        text = re.sub(pattern, "~", text)
    return text


def _shown(loops: tuple[Loop, ...]) -> str:
    told = [f"{one.name}: {one.runs} runs, {one.epochs} epochs, {one.steps} steps" for one in loops]
    return "; ".join(told) or "none"
