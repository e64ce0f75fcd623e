"""Graphs are compiled again and again, because an argument's shape, type or value keeps changing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim
from dlprof.analysis.recompilations import Recompilation

_SHARE_OF_WORK = 0.05
_LOOPS = ("fit/", "evaluate", "predict", "script", "compile")
_USUAL = 2
"""The short batch at the end of an epoch, and its kin, are compiled once more: no cause for a word."""


def look(case: Case) -> Iterator[Claim]:
    """Recompilations with a cause, and what they made of the steps that they fell into."""
    spans = _again(case)
    count, firsts = len(spans), _first_calls(case)
    work = sum(case.own(top) for top in ("fit", "script", "compile"))
    compiled = sum(row["dur_ns"] for row in spans)
    if count > _USUAL and compiled >= _SHARE_OF_WORK * work:
        yield _of_arguments(case, spans)
    elif len(firsts) > _USUAL and sum(ns for _, ns in firsts[1:]) >= _SHARE_OF_WORK * work:
        yield _of_new_functions(case, firsts)


def _of_new_functions(case: Case, firsts: Sequence[tuple[int, int]]) -> Claim:
    """Step functions that were made anew: each first call traces and compiles again."""
    spread = case.spread(case.by_phase((start, start + ns) for start, ns in firsts[1:]))
    again = (len(firsts) - 1) / len(firsts)
    spread.update(case.takes("fit/steps/edges", share=again))  # each fit begins and ends its epochs anew, too
    return Claim(
        f"The step function was made anew {len(firsts) - 1} times, and each first call compiles it again: {{time}}, "
        "{share}.",
        spread,
        [queries.spans("compile", "build", "graph_compile")],
        "Call compile() once, before the first fit; change the optimizer's learning_rate instead of compiling again.",
        case.line_with(".compile("),
    )


def _first_calls(case: Case) -> list[tuple[int, int]]:
    """(begin, duration) of the first calls of training step functions (ns)."""
    rows = case.run.rows("steps")
    return [(row["start_ns"], row["dur_ns"]) for row in rows if row["first"] and row["loop"] == "train"]


def _of_arguments(case: Case, spans: Sequence[dict[str, Any]]) -> Claim:
    """Functions that were traced again for another argument."""
    count = len(spans)
    first_runs = _first_runs(case, spans)
    functions = {(json.loads(row["detail"])["compiled"]).get("function") for row in spans}
    worst = max((one for one in case.recompilations if one.function in functions), key=lambda one: one.time_ns)
    by_phase = case.by_phase((row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in [*spans, *first_runs])
    spread = case.spread(by_phase)
    # A step in which a graph was compiled is longer by more than the compilation: the new graph is made ready, too.
    edges = _slow_first_runs(case, sum(by_phase.values()))
    for leaf in ("fit/steps/edges", "fit/steps/dispatch", "fit/graph_compile"):
        room = case.own(leaf) - spread.get(leaf, 0)
        more = min(edges, max(0, room))
        if more:
            spread[leaf] = spread.get(leaf, 0) + more
            edges -= more
    return Claim(
        f"{count} graphs were compiled again, most often {worst.function} ({_why(worst)}): {{time}}, {{share}}.",
        spread,
        [
            queries.spans("graph_compile"),
            (
                "a few with their causes",
                "SELECT start_ns, dur_ns, detail FROM spans WHERE detail LIKE '%\"again\": true%' "
                "ORDER BY dur_ns DESC LIMIT 3",
            ),
        ],
        "Keep shapes and types of what is passed equal: pad or drop the last batch, pass tensors, not Python numbers, "
        "or give an input_signature / dynamic=True.",
        (worst.file, worst.line) if worst.file and worst.line else case.training_place,
    )


def _again(case: Case) -> list[dict[str, Any]]:
    """Recompilations inside loops: what building a model compiles once for each shape is left out."""
    found = []
    for row in case.spans:
        if row["kind"] == "graph_compile" and row["detail"]:
            told = (json.loads(row["detail"]).get("compiled") or {}).get("again")
            phases = case.by_phase([(row["start_ns"], row["start_ns"] + row["dur_ns"])])
            if told and any(phase.startswith(_LOOPS) for phase in phases):
                found.append(row)
    return found


def _first_runs(case: Case, spans: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first calls, outside loops, of graphs that were compiled again: each follows its compilation."""
    again = {row["span_id"] for row in spans}
    found, compiled = [], None
    for row in sorted(case.spans, key=lambda row: row["start_ns"]):
        if row["kind"] == "graph_compile":
            compiled = row["span_id"]
        elif row["kind"] == "first_run" and compiled in again:
            found.append(row)
    return found


def _slow_first_runs(case: Case, compiled_ns: int) -> int:
    """Time of the steps with a recompilation beyond a usual step and the compilation itself (ns)."""
    table = case.run.table("steps")
    compiled = np.asarray(table["compiled"]) & ~np.asarray(table["first"])
    dur = np.asarray(table["dur_ns"])
    usual = np.median(dur[~np.asarray(table["compiled"])]) if (~np.asarray(table["compiled"])).any() else 0
    return max(0, int(dur[compiled].sum() - compiled.sum() * usual) - compiled_ns)


def _why(one: Recompilation) -> str:
    if one.what is None:
        return "for no reason that is told"
    if one.what == "guard":
        return " ".join((one.now or "").split())[:120].replace("{", "(").replace("}", ")")
    text = f"{one.what} of {one.argument}: {one.before} to {one.now}"
    return text.replace("{", "(").replace("}", ")")
