"""Lines and stacks, on a terminal."""

from __future__ import annotations

from dlprof.analysis.lines import HotLine
from dlprof.report.model import PhaseStack, ProbeCost, StackFrame
from dlprof.report.sections import code
from dlprof.schema.vocabulary import LineSource
from tests.unit.report.reports import printed, report, rows
from tests.unit.runs import MS, S

FRAMES = tuple(StackFrame(name, f"lib/{name}.py", n) for n, name in enumerate("abcdef"))


def test_a_line_has_its_own_time_and_its_source() -> None:
    """A share of the wall time, and the source without its indentation."""
    line = HotLine("train.py", "main", 1, 7, 3, 5 * S, 2 * S, "    step()\n")

    assert rows(printed(code.lines, report(lines=(line,)))[1:]) == [
        ["time", "%", "hits", "line", "source"],
        ["2.00 s", "20.0", "3", "train.py:7", "step()"],
    ]


def test_a_line_without_source_is_shown_all_the_same() -> None:
    """Its file was not kept."""
    line = HotLine("train.py", "main", 1, 7, 3, 5 * S, 2 * S, None)

    assert rows(printed(code.lines, report(lines=(line,)))[2:]) == [["2.00 s", "20.0", "3", "train.py:7"]]


def test_lines_that_were_not_measured_say_why() -> None:
    """By the reason of the probe."""
    probes = (ProbeCost("lines", "failed", "the script traces itself", None, None),)

    assert printed(code.lines, report(probes=probes))[1].strip() == "not measured, because the script traces itself"


def test_a_stack_has_its_four_innermost_frames() -> None:
    """Below the name of its phase, innermost first."""
    lines = printed(code.stacks, report(stacks=(PhaseStack("fit.steps", S, 0.5, FRAMES),)), ascii_only=True)

    assert [line.strip() for line in lines[1:]] == [
        "fit.steps",
        "50.0 %    1.00 s  a (a.py:0) < b (b.py:1) < c (c.py:2) < d (d.py:3)",
    ]


def test_a_phase_is_named_once() -> None:
    """Above its stacks."""
    stacks = tuple(PhaseStack(phase, S, 0.5, FRAMES[:1]) for phase in ("import", "import", "fit.steps"))

    lines = [line.strip() for line in printed(code.stacks, report(stacks=stacks))]

    assert [line for line in lines if "%" not in line][1:] == ["import", "fit.steps"]


def test_stacks_of_a_sample_or_two_are_left_out() -> None:
    """They stood there by chance."""
    stacks = (PhaseStack("import", 99 * MS, 1.0, FRAMES), PhaseStack("fit.steps", 100 * MS, 1.0, FRAMES))

    assert [line.strip() for line in printed(code.stacks, report(stacks=stacks))][1] == "fit.steps"


def test_stacks_that_were_not_sampled_say_why() -> None:
    """Nothing was said: nothing was recorded."""
    assert printed(code.stacks, report())[1].strip() == "not measured, because nothing was recorded"


def test_a_line_from_samples_says_in_how_many() -> None:
    """In place of hits."""
    line = HotLine("d.py", "get", 3, 4, None, S, S, "x", LineSource.SAMPLED, 20)

    assert "sampled, 20 x" in "".join(printed(code.lines, report(lines=(line,))))


def test_lines_below_a_hundredth_are_counted_in_a_whole_report() -> None:
    """The command has them."""
    lines = tuple(HotLine("train.py", "main", 1, n, 3, ns, ns, "x") for n, ns in ((7, 2 * S), (8, MS), (9, MS)))

    told = printed(code.lines, report(lines=lines), brief=True)

    assert len(told) == 4
    assert told[-1] == "  and 2 others, each below 1 %: dlprof lines r"
