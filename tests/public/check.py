"""Compares what is told of a script with what is known of it."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Any

from tests.public.case import Case, Loop

_SHOWN = 12
_LOOPS = ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch")


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
        script_percent: Share of the time from the first loop to the script's end that is in nothing but `script`.
        script_in_all_percent: Share of `script` in the whole wall time, which making data and weights is part of.
        layers: Names of layers that kernels have.
        unnamed_percent: Share of the kernels' time that has no layer; None: no kernels.
        errors: Messages of health that are errors.
    """

    loops: tuple[Loop, ...]
    places: tuple[str, ...]
    script_percent: float
    script_in_all_percent: float
    layers: frozenset[str]
    unnamed_percent: float | None
    errors: tuple[str, ...]


def told(report: dict[str, Any], spans: list[dict[str, Any]], layers: list[dict[str, Any]]) -> Told:
    """What is checked.

    Args:
        report: What `dlprof report --json` says.
        spans: The spans of its main thread: `kind`, `start_ns`, `dur_ns`.
        layers: The rows of `dlprof kernels --by layer --json`.
    """
    places = report["loops"]
    loops = [Loop(one["name"], one["steps"], one["epochs"], one["runs"]) for one in places]
    kernels = report["kernels"]
    every = kernels["all_ns"] if kernels else 0
    return Told(
        _sorted(loops),
        tuple(f"{one['name']}@{one['line']} {one['how']}" for one in places),
        script_percent(spans),
        _in_all_percent(report),
        frozenset(row["layer"] for row in layers if row["layer"]),
        100 * kernels["unattributed_ns"] / every if every else None,
        tuple(line["message"] for line in report["health"] if line["severity"] == "error"),
    )


def script_percent(spans: list[dict[str, Any]]) -> float:
    """Of the time from the first loop to the end of the script, the percentage that no other span has.

    100 where there is no loop.
    """
    whole = next((one for one in spans if one["kind"] == "script"), None)
    loops = [one for one in spans if one["kind"] in _LOOPS]
    if whole is None or not loops:
        return 100.0
    end: int = whole["start_ns"] + whole["dur_ns"]
    begin: int = min(one["start_ns"] for one in loops)
    reached, alone = begin, 0
    for one in sorted(spans, key=lambda one: int(one["start_ns"])):
        if one["kind"] != "script" and one["start_ns"] >= begin:
            alone += max(0, min(one["start_ns"], end) - reached)
            reached = max(reached, one["start_ns"] + (one["dur_ns"] or 0))
    return 100.0 * (alone + max(0, end - reached)) / (end - begin)


def _in_all_percent(report: dict[str, Any]) -> float:
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
        wrong.append(
            f"script is {found.script_percent:.1f} % of the time from the first loop on, not {case.script_percent:g} % at most"
        )
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
