"""Lines that take longer in the steps of one of two runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import grown_lines
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.grown_lines import GrownLine
from tests.unit import runs
from tests.unit.analysis.findings.cases import Planted, Tables, compared, longer, quiet, sampled
from tests.unit.runs import MS

MODULE = ("<module>", "train.py", 90)


def line(number: int, source: str, ms: int, **more: Any) -> dict[str, Any]:
    """A row of `lines` of the loop, which ran in each step."""
    row = {"file": "train.py", "function": "main", "first_line": 1, "line": number, "hits": 300}
    return {**row, "time_ns": ms * MS, "source": source, **more}


def grown(tmp_path: Path, mine: Tables, theirs: Tables) -> tuple[GrownLine, ...]:
    """Those of a run of 9 s of steps beside one of 6 s."""
    slow = longer(3, **mine)
    found = compared(slow, Planted(quiet(**theirs)), tmp_path)
    return grown_lines.of_steps(Case(found.a.runs[0], found))


def test_the_line_that_grew_most_is_first_and_a_new_one_is_said_to_be_new(tmp_path: Path) -> None:
    """`f` moved two lines down, and takes 2 s more; `log` came; `g` is as it was."""
    mine = [line(4, "f()", 2500), line(5, "g()", 500), line(6, "log()", 900)]
    theirs = [line(2, "f()", 500), line(3, "g()", 480)]

    assert grown(tmp_path, {"lines": mine}, {"lines": theirs}) == (
        GrownLine(("train.py", 4), 2000 * MS, False, False),
        GrownLine(("train.py", 6), 900 * MS, True, False),
    )


@pytest.mark.parametrize(("samples", "is_told"), [(2, False), (60, True)])
def test_a_time_from_samples_must_stand_out_of_their_errors(samples: int, is_told: bool, tmp_path: Path) -> None:
    """600 ms from two samples is known to 424 ms."""
    one = line(4, "f()", 600, hits=None, how="sampled", samples=samples)
    tables = {**sampled((2, 3, [MODULE, ("main", "train.py", 4)])), "lines": [one]}

    found = grown(tmp_path, tables, {"lines": [line(3, "g()", 0)]})

    assert found == ((GrownLine(("train.py", 4), 600 * MS, True, True),) if is_told else ())


def test_a_line_that_only_calls_another_of_the_script_s_is_not_told(tmp_path: Path) -> None:
    """Its time is in there: by the stacks, whatever it is called."""
    stood = sampled((2, 3, [MODULE, ("main", "train.py", 4), ("prepare", "train.py", 20)]))
    both = [line(4, "x = self.prepare(x)", 2000), line(20, "x.sort()", 1990)]

    found = grown(tmp_path, {**stood, "lines": both}, {"lines": [line(4, "x = self.prepare(x)", 10)]})

    assert [one.line for one in found] == [("train.py", 20)]


def test_a_line_that_was_edited_takes_more_by_what_it_took_less_before(tmp_path: Path) -> None:
    """Of 2 s for the new text, the old one had 1.5; one that came to a function beside it took all of its 0.9 s."""
    mine = [line(4, "y = g(x, 2)", 2000), line(30, "log()", 900, function="f")]

    found = grown(tmp_path, {"lines": mine}, {"lines": [line(4, "y = g(x)", 1500)]})

    assert [(one.line[1], one.more_ns // MS) for one in found] == [(30, 900), (4, 500)]


def test_a_function_that_was_written_anew_takes_more_by_what_the_old_one_took(tmp_path: Path) -> None:
    """None of its lines is the same, nor is its name."""
    old, new = line(4, "old(x)", 1500, function="f"), line(20, "new(x)", 1500, function="g")

    assert grown(tmp_path, {"lines": [new]}, {"lines": [old]}) == ()


def test_lines_before_the_loop_are_none_of_it(tmp_path: Path) -> None:
    """They ran once, and no stack stood there in the steps."""
    once = {"lines": [line(2, "x = load()", 2000, hits=1)]}

    assert grown(tmp_path, once, {"lines": [line(3, "g()", 1)]}) == ()


def test_twice_as_many_steps_make_no_line_slower(tmp_path: Path) -> None:
    """2 s in 600 steps are 1 s in 300."""
    slow = longer(3, lines=[line(4, "f()", 2000, hits=600)]).changed(lambda one: {**one, "steps": runs.steps(600)})
    found = compared(slow, Planted(quiet(lines=[line(4, "f()", 1000)])), tmp_path)

    assert grown_lines.of_steps(Case(found.a.runs[0], found)) == ()


def test_lines_are_told_with_their_files_where_these_differ(tmp_path: Path) -> None:
    """And as about so much where samples tell it."""
    found = compared(longer(3), Planted(quiet()), tmp_path)
    lines = [
        GrownLine(("train.py", 4), 2000 * MS, True, True),
        GrownLine(("data.py", 9), 500 * MS, False, False),
    ]

    assert grown_lines.told(Case(found.a.runs[0], found), lines) == (
        "line 4, which b has not (about 2.00 s more), and line 9 of data.py (500 ms more)"
    )
