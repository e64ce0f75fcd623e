"""The answer of a run: 30 lines at most."""

from __future__ import annotations

import io

import pytest

from dlprof.analysis.device_time import DeviceTime, SpanOf
from dlprof.analysis.loops import FoundBy, LoopSummary
from dlprof.analysis.steps import StepSummary
from dlprof.report import answer
from dlprof.report.console import Page, make_console
from dlprof.report.model import Cause, EpochTime, Exit, MainLoop, PhaseTime, ProbeCost, Report, Source
from dlprof.schema.vocabulary import Loop
from tests.unit.report.reports import report
from tests.unit.runs import MS, S

LONG = "word " * 200
CAUSE = Cause("input-bound", "The input was late", "", 2 * S, 0.2, "measured", "train.py", 7, "Prefetch.")
MAIN = MainLoop(
    **vars(StepSummary(Loop.TRAIN, 250, 90 * MS, 20 * MS, 25 * MS, 6400.4, 18 * MS, 2 * MS, 1)),
    asynchronous_dispatch=False,
    input_inside_step=False,
)
PHASES = (PhaseTime("import", None, S, 1), PhaseTime("fit", None, 6 * S, 1))


def printed(content: Report, *, name: str = "last", width: int = 80) -> list[str]:
    """What is printed of it."""
    out = io.StringIO()
    console = make_console(out)
    console.width, console.ascii = width, False
    answer.print_answer(Page(console, ascii_only=False), content, name)
    return out.getvalue().splitlines()


def overfull() -> Report:
    """A run of which every part has more to say than there is room for."""
    cause = Cause("x" * 90, LONG, LONG, 2 * S, 0.2, "estimated", "y" * 200, 7, LONG)
    return report(
        script="z" * 300,
        arguments=(LONG,),
        verdict=LONG,
        findings=(cause,) * 9,
        not_asked=("a", "b"),
        phases=tuple(PhaseTime(f"phase{number}", None, S, 1) for number in range(90)),
        epochs=(EpochTime(1, 0, S, 5, {}, {LONG: "NaN", "mae": "NaN"}),),
        probes=(ProbeCost("cores", "failed", LONG, None, None),),
    )


@pytest.mark.parametrize("width", [80, 81, 100, 133, 250])
@pytest.mark.parametrize("name", ["last", "a-very-long-name-of-a-run" * 2])
def test_it_never_has_more_than_30_lines(width: int, name: str) -> None:
    """Nor is a line wider than the terminal."""
    lines = printed(overfull(), width=width, name=name)

    assert len(lines) <= 30
    assert max(len(line) for line in lines) <= width
    assert "dlprof report" in "".join(lines[-2:])


def test_it_begins_with_what_was_run_and_the_verdict() -> None:
    """Then nothing else for a line."""
    lines = printed(report(verdict="72 % of the 10.0 s went to callbacks.", findings=(CAUSE,), arguments=("--fast",)))

    assert lines[:5] == [
        "",
        "train.py --fast on torch  10.0 s, exit code 0, Keras 3.15.0, torch 2.13, Python",
        "3.11.7",
        "72 % of the 10.0 s went to callbacks.",
        "",
    ]


def test_three_findings_are_told_and_the_others_counted() -> None:
    """With line and next step."""
    lines = printed(report(findings=(CAUSE,) * 5))
    start = lines.index("1. The input was late  2.00 s, 20 %  input-bound")

    assert lines[start + 1] == "   train.py:7  Prefetch."
    assert lines[start + 4].startswith("3. ")
    assert lines[start + 6] == "   2 more"


def test_it_ends_with_what_to_type_next() -> None:
    """For this run."""
    assert printed(report(findings=()))[-1] == (
        "Next     dlprof view last   dlprof diagnose last   dlprof report last --full"
    )


def test_a_long_name_of_a_run_stands_by_itself() -> None:
    """So that the commands are not cut."""
    assert printed(report(findings=()), name="20261120-101500-mlp-mxnet")[-2:] == [
        "Next     dlprof view RUN   dlprof diagnose RUN   dlprof report RUN --full",
        "         RUN is 20261120-101500-mlp-mxnet",
    ]


def test_a_run_that_cannot_be_diagnosed_is_not_sent_there() -> None:
    """That command would refuse it."""
    assert "diagnose" not in printed(report(findings=None))[-1]


def test_of_foreign_traces_only_what_they_hold_is_told() -> None:
    """Nothing is said to be missing: it was never there."""
    content = report(state="imported", sources=(Source("a.json", "kineto", 7, 0, None),), verdict="7 events.")

    assert printed(content) == [
        "",
        "a.json  imported",
        "7 events.",
        "",
        "Next     dlprof view last   dlprof report last --full",
    ]


def test_devices_without_a_cause_are_said_to_have_none() -> None:
    """A reader would wait for an answer after a verdict of much idle time."""
    device = DeviceTime("gpu:0", 0, None, None, 10 * S, S, 9 * S, S, 0, 0, 0, 0, 1, S, SpanOf.EVENTS, ())
    content = report(state="imported", devices=(device,), findings=())

    assert "No cause is claimed: what the files hold supports none" in " ".join(printed(content))


def test_nothing_of_the_run_steers_the_terminal() -> None:
    """Names are the user's, or a stranger's."""
    bad = "a\x1b[31mb"
    cause = Cause("slug", bad, bad, S, 0.1, "measured", bad, 1, bad)

    content = report(script=bad, verdict=bad, findings=(cause,), phases=PHASES)

    assert "\x1b" not in "\n".join(printed(content))


def test_an_empty_line_goes_before_a_part_is_lost() -> None:
    """Where all parts have something to say."""
    lines = printed(overfull())

    assert [line.split(" ")[0] for line in lines if line[:1].isupper()] == [
        "Phases", "Steps", "Cores", "GPU", "Warning", "Next",
    ]  # fmt: skip


def test_what_to_do_and_where_is_never_cut() -> None:
    """Of long ones fewer are told; the others are counted."""
    advice = "Prepare the batches beside the training. " * 14 + "Then measure again."
    title = "The training waited " + "for a very long time " * 4 + "for its input"
    cause = Cause("input-bound", title, "", 2 * S, 0.2, "measured", "a/rather/long/path/of/train.py", 1234, advice)

    text = " ".join(" ".join(printed(report(findings=(cause,) * 3, phases=PHASES))).split())

    assert text.count(f"{title} 2.00 s, 20 % input-bound") == text.count("Then measure again.") == 2
    assert "1 more" in text
    assert "…" not in text


def test_the_line_of_a_loop_is_never_cut() -> None:
    """It stands at the end of a long line."""
    loop = LoopSummary("fit", FoundBy.INFERRED, "jax_slow/with/a/long/name/of/a/folder.py", 40, 1, 250, 1)

    text = "".join(line.strip() for line in printed(report(steps=MAIN, loops=(loop,)), width=60))

    assert "folder.py:40" in text


def test_a_script_that_failed_at_once_is_told_so_and_nothing_else() -> None:
    """Its error stands above, printed by Python."""
    phases = (PhaseTime("dlprof", None, 9 * S, 1), PhaseTime("script", None, S // 10, 1))
    end = Exit(1, None, "SyntaxError", "train.py", 3)

    told = " ".join(printed(report(exit=end, phases=phases, unattributed_ns=0, keras_version=None))[2:])

    assert told == (
        "The script ended with exit code 1 (SyntaxError at train.py:3) before anything was trained: there is nothing "
        "to explain."
    )
