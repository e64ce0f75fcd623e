"""Graphs that take longer than their training."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings.diagnose import diagnose
from dlprof.analysis.findings.finding import Finding
from tests.unit import runs
from tests.unit.analysis.findings.cases import (
    BEGIN,
    KERNELS,
    WAITING,
    Planted,
    cpu,
    diagnosed,
    keep_source,
    parts,
    pick,
    quiet,
    sampled,
    slugs,
)
from tests.unit.runs import S


def planted() -> Planted:
    """4 s of compilation for 2 s of steps."""
    compilation = ("fit.graph_compile", 2, 6)
    return Planted(
        quiet(
            phases=parts(fit_steps=2, fit_graph_compile=4, teardown=2),
            steps=runs.steps(100, start_s=6),
            phase_intervals=runs.intervals(("import", 0, 2), compilation, ("fit.steps", 6, 8), ("teardown", 8, 10)),
        )
    )


def test_a_graph_that_takes_longer_than_its_training_is_named(tmp_path: Path) -> None:
    """4 s of compilation for 2 s of steps."""
    assert pick(planted().diagnosis(tmp_path), "graph-compile-dominates").at_stake_ns == 4 * S


def test_compiling_again_is_not_also_a_graph_that_takes_long(tmp_path: Path) -> None:
    """Four step functions of 1 s each: three of them are a cause of their own, and one second is what a graph costs."""
    steps = runs.steps(100, start_s=6)
    firsts = [{**steps[0], "start_ns": (2 + n) * S, "dur_ns": S, "first": True, "compiled": True} for n in range(4)]
    tables = quiet(
        phases=parts(fit_steps=2, fit_graph_compile=4, teardown=2),
        steps=[*firsts, *steps],
        **runs.window(KERNELS, begin_s=6.5),
        phase_intervals=runs.intervals(
            ("import", 0, 2), ("fit.graph_compile", 2, 6), ("fit.steps", 6, 8), ("teardown", 8, 10)
        ),
    )
    diagnosis = diagnosed(tmp_path / "r", **tables)

    assert slugs(diagnosis) == ["retracing"]
    assert pick(diagnosis, "retracing").at_stake_ns == 3 * S


def test_compiling_that_waited_for_a_core_is_not_that_long(tmp_path: Path) -> None:
    """False on a busy machine: 4 s, for 40 % of which the threads had no core."""
    tables = {**planted().tables, **cpu((5, BEGIN), (7.5, WAITING), others=100.0)}

    assert "graph-compile-dominates" not in slugs(diagnosed(tmp_path / "r", **tables))


SCRIPT = (
    "def rollout(s):\n    for _ in range(80):\n        k = field(s)\n        s = s + k\n    return s\n\n\nupdate(s)\n"
)


def tracing(folder: Path, seen_s: float, *, in_turn: str | None = None) -> Finding:
    """4 s of compilation that line 8 asks for; for so long of that the script was seen in line 3, in a loop, maybe in a call."""
    call, turn = ("<module>", "train.py", 8), ("rollout", "train.py", 3)
    compiling = [runs.span("graph_compile", 2, 6, span_id=7, line=8)]
    if in_turn is not None:
        compiling.append(runs.span(in_turn, 2, 2 + seen_s, span_id=8, line=3))
    stacks = sampled((2, 2 + seen_s, [call, turn]), (2 + seen_s, 6, [call]))
    row = {"file": "train.py", "function": "<module>", "first_line": 1, "line": 8, "hits": 1, "time_ns": 1}
    tables = {**planted().tables, **stacks, "spans": [runs.fit_span(), *compiling], "lines": [row]}
    run = runs.trained(folder / "r", **tables)
    keep_source(run, SCRIPT)
    return pick(diagnose(run), "graph-compile-dominates")


def test_a_loop_that_is_traced_turn_by_turn_is_named(tmp_path: Path) -> None:
    """Compiling takes most of it, and stands in the line of the call."""
    finding = tracing(tmp_path, 0.3)

    assert finding.line == 2
    assert "traced turn by turn" in finding.next_step


def test_a_loop_that_was_hardly_seen_is_not_blamed(tmp_path: Path) -> None:
    """One sample."""
    finding = tracing(tmp_path, 0.05)

    assert finding.line == 8
    assert "Train longer per start" in finding.next_step


@pytest.mark.parametrize("kind", ["graph_compile", "compile", "build"])
def test_a_loop_that_calls_what_is_compiled_is_not_traced_itself(tmp_path: Path, kind: str) -> None:
    """False before: a loop of epochs, in which a second function is called, or in which a model is compiled anew."""
    finding = tracing(tmp_path, 0.3, in_turn=kind)

    assert "traced turn by turn" not in finding.next_step
    assert finding.line == 8


def test_nothing_is_traced_while_operators_are_compiled_one_by_one(tmp_path: Path) -> None:
    """False before: one late sample of 0.3 s in a loop of epochs, while its evaluation compiled operators."""
    detail = '{"graph": {"stage": "compile", "function": "add", "operator": true}}'
    compiling = runs.span("graph_compile", 2, 6, span_id=7, line=8)
    alone = runs.span("graph_compile", 6, 6.3, span_id=8, line=9, detail=detail)
    call, turn = ("<module>", "train.py", 8), ("rollout", "train.py", 3)
    tables = quiet(
        phases=parts(compile=0.3, fit_graph_compile=4, fit_steps=1.7, teardown=2),
        steps=runs.steps(85, start_s=6.3),
        spans=[runs.fit_span(), compiling, alone],
        phase_intervals=runs.intervals(
            ("import", 0, 2),
            ("fit.graph_compile", 2, 6),
            ("compile", 6, 6.3),
            ("fit.steps", 6.3, 8),
            ("teardown", 8, 10),
        ),
        lines=[{"file": "train.py", "function": "<module>", "first_line": 1, "line": 8, "hits": 1, "time_ns": 1}],
        **sampled((2, 6, [call]), (6, 6.3, [turn])),
    )
    run = runs.trained(tmp_path / "r", **tables)
    keep_source(run, SCRIPT)

    assert pick(diagnose(run), "graph-compile-dominates").line == 8
