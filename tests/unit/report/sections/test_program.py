"""What the program did, on a terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dlprof.analysis.graph_breaks import GraphBreak
from dlprof.analysis.graph_compilations import GraphCompilation
from dlprof.analysis.later_epochs import SlowEpoch
from dlprof.analysis.loops import FoundBy, LoopSummary
from dlprof.analysis.processes import ProcessSummary
from dlprof.analysis.recompilations import Recompilation
from dlprof.analysis.steps import StepSummary
from dlprof.report.model import EpochTime, MainLoop, PartTime, PhaseTime, StepParts, UnrecordedTime
from dlprof.report.sections import program
from dlprof.schema.vocabulary import Loop, ProcessRole, StepTime
from tests.unit.report.reports import printed, report, rows
from tests.unit.runs import MS, S

LOOP = StepSummary(Loop.TRAIN, 250, 90 * MS, 20 * MS, 25 * MS, 6400.4, 18 * MS, 2 * MS, 1)
MAIN = MainLoop(**vars(LOOP), asynchronous_dispatch=False, input_inside_step=False)
AGAIN = Recompilation("step", 3, 600 * MS, "x", "shape", "(32, 4)", "(7, 4)", "train.py", 7)


def test_phases_have_time_share_count_and_a_bar() -> None:
    """Those inside fit are set in; what is unattributed stands last."""
    phases = (PhaseTime("fit", None, 6 * S, 2), PhaseTime("fit.steps", "fit", 5 * S, 2))

    lines = printed(program.phases, report(phases=phases, unattributed_ns=4 * S), ascii_only=True)

    assert rows(lines[2:]) == [
        ["fit", "6.00 s", "60.0", "2", "#" * 24],
        ["steps", "5.00 s", "50.0", "2", "#" * 20],
        ["unattributed", "4.00 s", "40.0"],
    ]
    assert lines[3].startswith("    steps")


def test_small_phases_of_a_whole_report_are_one_row() -> None:
    """By itself the section has them all; parts of a small phase do not count twice."""
    small = (("startup", None), ("save", None), ("fit.build", "fit"))
    phases = (PhaseTime("fit", None, 6 * S, 2), *(PhaseTime(name, parent, 20 * MS, 1) for name, parent in small))
    content = report(phases=phases, unattributed_ns=0)

    assert rows(printed(program.phases, content, ascii_only=True, brief=True)[2:]) == [
        ["fit", "6.00 s", "60.0", "2", "#" * 24],
        ["and 3 others", "60.0 ms", "0.6"],
        ["unattributed", "0 ns", "0.0"],
    ]
    assert len(printed(program.phases, content, ascii_only=True)) == 7


def test_phases_of_a_run_without_a_wall_time_have_no_share() -> None:
    """A dash, not 0 %."""
    lines = printed(program.phases, report(wall_ns=None, unattributed_ns=None, phases=(PhaseTime("fit", None, S, 0),)))

    assert rows(lines[2:]) == [["fit", "1.00 s", "-"], ["unattributed", "-", "-"]]


def test_a_loop_is_a_row() -> None:
    """First, median and 95th percentile of its steps, its call, its wait, its rate."""
    lines = printed(program.steps, report(steps=MAIN, step_summaries=(LOOP,)))

    assert rows(lines[1:]) == [
        ["loop", "count", "first", "median", "p95", "call", "input", "samples/s", "compiled"],
        ["train", "250", "90.0 ms", "20.0 ms", "25.0 ms", "18.0 ms", "2.00 ms", "6,400", "1"],
    ]


def test_what_a_loop_does_not_tell_is_a_dash() -> None:
    """Not 0."""
    loop = replace(LOOP, median_ns=None, p95_ns=None, samples_per_s=None, call_median_ns=None, input_median_ns=None)

    lines = printed(program.steps, report(steps=MAIN, step_summaries=(loop,)))

    assert rows(lines[2:3]) == [["train", "250", "90.0 ms", "-", "-", "-", "-", "-", "1"]]


def test_a_wait_inside_the_call_is_said_to_be_there() -> None:
    """Its time is not measured."""
    main = replace(MAIN, input_inside_step=True)

    lines = printed(program.steps, report(steps=main, step_summaries=(LOOP,)))

    assert rows(lines[2:3])[0][6] == "in call"
    assert lines[3].endswith("that wait is not measured")


@pytest.mark.parametrize(
    ("how", "name", "shown"),
    [
        (FoundBy.KERAS, "fit", "in call"),
        (FoundBy.KERAS, "train_on_batch", "2.00 ms"),
        (FoundBy.KERAS, "predict", "2.00 ms"),
        (FoundBy.INFERRED, "fit", "2.00 ms"),
        (FoundBy.MARKS, "fit", "2.00 ms"),
    ],
)
def test_a_wait_that_the_script_itself_makes_is_told(how: FoundBy, name: str, shown: str) -> None:
    """Only Keras' own loops of that backend leave the fetching of batches to their call."""
    places = (LoopSummary(name, how, "train.py", 7, 2, 250, 1),)

    lines = printed(
        program.steps, report(steps=replace(MAIN, input_inside_step=True), step_summaries=(LOOP,), loops=places)
    )

    assert rows(lines[2:3])[0][6:8] == [shown, "6,400"]
    assert any("that wait is not measured" in line for line in lines) == (shown == "in call")


def test_a_call_that_only_dispatches_is_said_to_do_so() -> None:
    """The work goes on."""
    main = replace(MAIN, asynchronous_dispatch=True)

    assert (
        printed(program.steps, report(steps=main, step_summaries=(LOOP,)))[-1].strip().startswith("call: dispatch only")
    )


def test_how_the_time_of_a_step_was_got_is_said() -> None:
    """Where it is not that of the steps themselves."""
    loop = replace(LOOP, how=StepTime.EPOCHS)

    assert printed(program.steps, report(steps=MAIN, step_summaries=(loop,)))[-1].strip() == "train: from epoch times"


@pytest.mark.parametrize(
    ("phases", "reason"),
    [
        ((), "none: no training was seen (a loop of your own: dlprof help own-loops)"),
        (
            (PhaseTime("import", None, S, 1),),
            "none: no training was seen (a loop of your own: dlprof help own-loops)",
        ),
        ((PhaseTime("predict", None, S, 1),), "none: no step of predict was finished"),
    ],
)
def test_a_run_without_steps_says_why(phases: tuple[PhaseTime, ...], reason: str) -> None:
    """Never called, or never finished."""
    assert [line.strip() for line in printed(program.steps, report(phases=phases))] == ["Steps", reason]


@pytest.mark.parametrize(
    ("phases", "what"),
    [((), "no training was seen"), ((PhaseTime("fit", None, MS, 1),), "no step of fit was finished")],
)
def test_a_run_without_steps_that_was_cut_does_not_deny_what_was_not_recorded(
    phases: tuple[PhaseTime, ...], what: str
) -> None:
    """It was killed within half a second of its first step."""
    cut = UnrecordedTime(2 * S, S // 2, 0.2, "killed", "the process was ended by signal 15")
    told = " ".join(line.strip() for line in printed(program.steps, report(phases=phases, unrecorded=cut)))

    assert told == (
        f"Steps none known: {what} up to 2.00 s; what came then was not recorded, because the process was ended by signal"
        " 15"
    )


def test_processes_that_may_have_trained_are_said_not_to_be_looked_into() -> None:
    """Those that did next to nothing have not trained."""
    below = [
        ProcessSummary(pid, "trial", ProcessRole.WORKER, cpu_ns, S, (), 1, 0, S, 1, 1, 1)
        for pid, cpu_ns in ((2, S), (3, 9))
    ]

    lines = printed(program.steps, report(processes=tuple(below)))

    assert lines[1].strip() == (
        "none: no training was seen in the program itself; a process that it started was not looked into"
    )


def test_a_program_that_marked_no_step_is_told_so() -> None:
    """It has no fit."""
    lines = printed(program.steps, report(source="program"))

    assert [line.strip() for line in lines] == ["Steps", "none: the program marked none"]


@pytest.mark.parametrize(("count", "shown"), [(4, [1, 2, 3, 4]), (6, [1, 5, 6])])
def test_of_many_epochs_the_first_and_the_last_are_shown(count: int, shown: list[int]) -> None:
    """With their metrics."""
    epochs = tuple(EpochTime(1, n, S, 125, {"loss": 0.25}) for n in range(count))

    lines = printed(program.steps, report(steps=MAIN, step_summaries=(LOOP,), epochs=epochs))

    found = [line.split() for line in lines if line.strip().startswith("epoch")]
    assert [int(words[1]) for words in found] == shown
    assert found[0][2:] == ["1.00", "s", "loss", "0.25"]


def test_functions_that_were_compiled_once_are_no_section() -> None:
    """Nothing is printed."""
    assert printed(program.recompilations, report()) == []


@pytest.mark.parametrize(
    ("recompilation", "why"),
    [
        (AGAIN, "x: (32, 4) to (7, 4)"),
        (replace(AGAIN, before=None), "x: none to (7, 4)"),
        (replace(AGAIN, what=None), "not told; the arguments are as before"),
        (replace(AGAIN, what="guard", now="L['x']\n  == 3"), "L['x'] == 3"),
        (replace(AGAIN, what="guard", now=None), ""),
    ],
)
def test_a_recompilation_says_what_differed(recompilation: Recompilation, why: str) -> None:
    """The argument, or the guard on one line."""
    lines = printed(program.recompilations, report(recompilations=(recompilation,)))

    assert lines[0].startswith("Compiled again  3 times, 600 ms in all")
    assert rows(lines[2:]) == [["step", "3", "600 ms", "train.py:7", *([why] if why else [])]]


def test_of_many_recompilations_six_are_shown() -> None:
    """And how many more there are."""
    lines = printed(program.recompilations, report(recompilations=(replace(AGAIN, file=None),) * 8))

    assert len(lines) == 1 + 1 + 6 + 1
    assert lines[-1].strip() == "and 2 more: --json"
    assert rows(lines[2:3])[0][3] == "-"


def test_parts_of_a_step_are_scaled_to_a_plain_one() -> None:
    """The figures are those of the plain step."""
    parts = (PartTime("kernels", 15 * MS, 10 * MS), PartTime("dispatch", 15 * MS, 10 * MS))
    split = StepParts("train", "torch", 10, 30 * MS, 20 * MS, 1.5, parts)

    lines = printed(program.step_parts, report(step_split=split), ascii_only=True)

    assert lines[0] == (
        "A train step of 20.0 ms  10 train steps under torch's tracer (1.50 x a plain one), scaled to a plain step"
    )
    assert ["kernels", "10.0 ms", "50.0", "#" * 15] in rows(lines)


def test_parts_of_a_step_without_a_plain_one_are_those_of_the_window() -> None:
    """And a part that cannot be told apart is a dash with its reason."""
    parts = (PartTime("kernels", 15 * MS, None), PartTime("dispatch", None, None))
    split = StepParts("train", "theano", 10, 30 * MS, None, None, parts)

    lines = printed(program.step_parts, report(step_split=split), ascii_only=True)

    assert lines[0].startswith("A train step of 30.0 ms  10 train steps under theano's tracer, not scaled")
    assert ["kernels", "15.0 ms", "50.0", "#" * 15] in rows(lines)
    assert rows(lines[-1:])[0][:3] == ["dispatch", "-", "-"]


def test_what_a_rank_stands_still_in_collectives_is_no_work_of_python() -> None:
    """No kernel runs then, so that it is in the part of the host."""
    split = StepParts("train", "torch", 10, 30 * MS, 20 * MS, 1.5, (PartTime("host_python", 15 * MS, 10 * MS),))
    loop = MainLoop(**vars(LOOP), asynchronous_dispatch=False, input_inside_step=False, collectives_ns=9 * MS)

    text = " ".join(line.strip() for line in printed(program.step_parts, report(step_split=split, steps=loop))[3:])

    assert text == (
        "a plain step stands still in collectives for 9.00 ms (median), for ranks that come later and for the "
        "transfer: no work of Python's own"
    )


def test_epochs_of_several_trainings_say_whose_they_are() -> None:
    """Each training counts its epochs from the first on."""
    epochs = tuple(EpochTime(loop, n, S, 125, {}) for loop in (7, 9) for n in range(2))

    lines = printed(program.steps, report(steps=MAIN, step_summaries=(LOOP,), epochs=epochs))

    found = [line.split()[:4] for line in lines if line.strip().startswith("training")]
    assert found == [["training", of, "epoch", number] for of in ("1,", "2,") for number in ("1", "2")]


def test_how_many_epochs_are_left_out_is_said() -> None:
    """Three of twelve stand there."""
    epochs = tuple(EpochTime(loop, n, S, 125, {}) for loop in (1, 2, 3) for n in range(4))

    lines = printed(program.steps, report(steps=MAIN, step_summaries=(LOOP,), epochs=epochs))

    assert lines[-1].strip() == "... the first and the last two of 12 epochs of 3 trainings"


def test_a_window_in_a_slow_epoch_says_so() -> None:
    """What is done once is no part of later steps."""
    parts = (PartTime("kernels", 15 * MS, 10 * MS),)
    split = StepParts("train", "torch", 10, 30 * MS, 20 * MS, 1.5, parts, SlowEpoch(0, 30 * MS, 12 * MS))

    text = " ".join(line.strip() for line in printed(program.step_parts, report(step_split=split))[3:])

    assert text == (
        "traced in epoch 1, whose plain steps took 30.0 ms; those of later epochs take 12.0 ms: what is done once, as "
        "filling a cache of data, is in these parts alone"
    )


def test_a_run_without_a_kernel_window_has_no_parts() -> None:
    """Nothing is printed."""
    assert printed(program.step_parts, report()) == []


def test_the_stages_of_graphs_are_shown_by_function() -> None:
    """What the engine does not tell apart is a dash; where none tells any, nothing is printed."""
    step = GraphCompilation(
        function="step",
        count=2,
        time_ns=3_000_000_000,
        trace_ns=1_000_000_000,
        compile_ns=2_000_000_000,
        file="t.py",
        line=7,
    )

    lines = printed(program.graph_compilations, report(graph_compilations=(step,)))

    assert lines[0].startswith("Graphs made  3.00 s in all")
    assert lines[-1].split() == ["step", "2", "3.00", "s", "1.00", "s", "-", "2.00", "s", "-", "t.py:7"]
    assert printed(program.graph_compilations, report(graph_compilations=(replace(step, trace_ns=None),))) == []


def test_graph_breaks_are_named_by_their_lines() -> None:
    """With the reason, and how often the compiler met each; where there is none, nothing is printed."""
    breaks = (GraphBreak("Unsupported Tensor.item() call", 2, "train.py", 7), GraphBreak("skipped", 1, None, None))

    lines = printed(program.graph_breaks, report(graph_breaks=breaks))

    assert lines[0].startswith("Graph breaks  2")
    assert [line.split(maxsplit=2) for line in lines[-2:]] == [
        ["train.py:7", "2", "Unsupported Tensor.item() call"],
        ["-", "1", "skipped"],
    ]
    assert printed(program.graph_breaks, report()) == []
