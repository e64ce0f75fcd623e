"""Operators that were compiled one by one, outside of training steps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dlprof.analysis.findings.finding import Diagnosis, Finding
from tests.unit import runs
from tests.unit.analysis.findings.cases import diagnosed, parts, quiet
from tests.unit.runs import MS

TITLE = "Operators were compiled one by one"
WEIGHTS = (("_normal", 600), ("multiply", 50), ("dynamic_slice", 40)) * 4
"""Kinds of operators, and what making one takes (ms), of which lowering is 10: 2.76 s in all."""


def compiling(folder: Path, *operators: tuple[str, int], flag: bool = True) -> Diagnosis:
    """A run that imports for 2 s, compiles these, and trains: `_normal` in line 27, all others in line 29."""
    spans, at = [], 2.0
    for number, (name, took_ms) in enumerate(operators):
        lowered, line = at + 0.01, 27 if name == "_normal" else 29
        names = (
            ("lower", f"lower {name}", at, lowered),
            ("compile", f"compile jit({name})", lowered, at + took_ms / 1e3),
        )
        for place, (stage, text, begin, end) in enumerate(names):
            kind = "graph_compile" if stage == "compile" else "graph_stage"
            graph: dict[str, Any] = {"stage": stage, "function": name, **({"operator": True} if flag else {})}
            told = json.dumps({"graph": graph})
            span = runs.span(kind, begin, end, name=text, line=line, detail=told, span_id=100 + 2 * number + place)
            spans.append(span)
        at += took_ms / 1e3
    tables = quiet(
        phases=parts(compile=at - 2, fit_steps=8 - at, teardown=2),
        spans=[runs.fit_span(), *spans],
        steps=runs.steps(int(50 * (8 - at)), start_s=at),
        phase_intervals=runs.intervals(("import", 0, 2), ("compile", 2, at), ("fit.steps", at, 8), ("teardown", 8, 10)),
    )
    return diagnosed(folder / "r", **tables)


def named(diagnosis: Diagnosis) -> list[Finding]:
    """What was said of them."""
    return [finding for finding in diagnosis.findings if finding.heading == TITLE]


def test_operators_that_are_compiled_one_by_one_are_named_at_the_line_with_most_of_them(tmp_path: Path) -> None:
    """Four kinds of weights with three operators each, lowering among it."""
    (finding,) = named(compiling(tmp_path, *WEIGHTS))

    assert "12 operators" in finding.claim
    assert "in 2.76 s" in finding.claim
    assert (finding.file, finding.line) == ("train.py", 27)


def test_what_one_function_would_save_is_what_each_compilation_costs_at_least(tmp_path: Path) -> None:
    """By the kind in the middle, 50 ms: what an operator takes beyond that is work that stays (8 x 50, 4 x 40 ms)."""
    (finding,) = named(compiling(tmp_path, *WEIGHTS))

    assert finding.at_stake_ns // MS == 560
    assert finding.basis == "estimated"


def test_the_more_of_it_is_saved_the_surer_is_the_cause(tmp_path: Path) -> None:
    """Many small operators are nearly nothing as one function; of dear ones most stays."""
    small = [(name, 35) for _ in range(20) for name in ("_mean", "subtract", "sqrt", "divide")]
    (cheap,), (dear,) = (
        named(compiling(tmp_path / name, *made)) for name, made in (("small", small), ("weights", WEIGHTS))
    )

    assert (cheap.confidence, dear.confidence) == (0.94, 0.53)


def test_a_few_operators_are_no_cause(tmp_path: Path) -> None:
    """What a single one costs whatever it is cannot be told."""
    assert named(compiling(tmp_path, ("_normal", 2000), ("multiply", 500), ("_threefry_split", 500))) == []


def test_a_second_or_two_of_them_is_what_starting_costs(tmp_path: Path) -> None:
    """12 operators in 1.2 s."""
    short = [(name, 100) for _ in range(4) for name in ("_normal", "multiply", "dynamic_slice")]

    assert named(compiling(tmp_path, *short)) == []


def test_functions_of_the_script_are_no_operators(tmp_path: Path) -> None:
    """They are compiled as one already."""
    assert named(compiling(tmp_path, *WEIGHTS, flag=False)) == []


def test_operators_are_no_graphs_that_take_long(tmp_path: Path) -> None:
    """2.76 s of the 6 s of work: as of a function, they would be; what they cost is told above."""
    headings = [finding.heading for finding in compiling(tmp_path / "operators", *WEIGHTS).findings]
    of_functions = compiling(tmp_path / "functions", *WEIGHTS, flag=False)

    assert headings == [TITLE]
    assert [finding.heading for finding in of_functions.findings] == ["Building and compiling graphs took long"]
