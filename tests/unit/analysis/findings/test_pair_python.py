"""Python that takes longer around the kernels of one of two runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import pair_python
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import AtStake, Claim
from dlprof.schema.vocabulary import Whole
from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, Call, Planted, Tables, compared, lasting, longer, quiet, sampled
from tests.unit.analysis.findings.test_grown_lines import line
from tests.unit.runs import MS, S

OWN = {**runs.fit_span(), "detail": '{"how": "inferred"}'}
LOOP: list[Call] = [("<module>", "train.py", 90), ("main", "train.py", 68)]


def in_python(ms: int, calls: list[Call] = LOOP) -> Tables:
    """20 ms more of each step, outside of its call; the loop's new line took so long by its samples."""
    new = line(68, "write(x)", ms, hits=None, how="sampled", samples=100)
    steps = runs.steps(300, dur_ms=40, call_ns=20 * MS)
    lines = [line(2, "f()", 10), *[new] * bool(ms)]
    return {**runs.window(KERNELS, dur_ms=40), **sampled((2, 4, calls)), "lines": lines, "steps": steps}


def claims(tmp_path: Path, tables: Tables, span: dict[str, Any] = OWN) -> list[Claim]:
    """What is claimed of a run of 6 s more, beside a loop of the script's own."""
    tables = {**longer(6, spans=[span]).tables, **tables}
    slow = Planted(tables, {**lasting(16), **({"keras": None} if span is OWN else {})})
    fast = Planted(quiet(spans=[OWN], lines=[line(2, "f()", 10)]), {**runs.manifest(), "keras": None})
    found = compared(slow, fast, tmp_path)
    return list(pair_python.claims(Case(found.a.runs[0], found), 6 * S))


def told(claim: Claim) -> str:
    """Its sentence, of its whole time."""
    return claim.sentence.tell(AtStake(sum(claim.takes.values()), 6 * S, Whole.GAP))


def test_the_line_that_grew_is_named(tmp_path: Path) -> None:
    """Before, no line was named, and what to do was for Keras."""
    (claim,) = claims(tmp_path, in_python(4000))

    assert claim.line == ("train.py", 68)
    assert told(claim) == (
        "Python between the operations of a step, most of all line 68, which b has not (about 4.00 s more), takes "
        "6.00 s more, 100 % of the gap."
    )
    assert claim.next_step.startswith("See what that line does in each step")


def test_a_line_that_tells_little_of_it_leaves_the_rest_without_a_place(tmp_path: Path) -> None:
    """One of 600 ms does not tell 6 s."""
    of_line, rest = claims(tmp_path, in_python(600))

    assert (of_line.line, sum(of_line.takes.values())) == (("train.py", 68), 600 * MS)
    assert rest.line is None
    assert rest.next_step.startswith("See which lines of the loop run between its operations")


def test_a_line_below_which_the_engine_computes_is_no_python(tmp_path: Path) -> None:
    """As `loss.backward()`, whose kernels are told by themselves."""
    (claim,) = claims(tmp_path, in_python(4000, [*LOOP, ("backward", "torch/_tensor.py", 5)]))

    assert claim.line is None


def test_what_the_loop_of_keras_does_around_each_step_is_told_as_its_own(tmp_path: Path) -> None:
    """Not as steps that are too small: those of the other run are as small."""
    claim = claims(tmp_path, in_python(0), runs.fit_span())[0]

    assert claim.title is not None and claim.title.text == "Keras' own loop did more around each step"
    assert told(claim).startswith("Keras runs the steps here, and a loop of the script's own in b:")
    assert sum(claim.takes.values()) == pytest.approx(6 * S, rel=0.02)
