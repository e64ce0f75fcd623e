"""What the program did: phases, steps, epochs, graphs that were compiled again, and what a step consists of."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from dlprof.analysis.later_epochs import SlowEpoch
from dlprof.analysis.loops import FoundBy
from dlprof.analysis.processes import ProcessSummary
from dlprof.analysis.recompilations import Recompilation
from dlprof.analysis.steps import StepSummary
from dlprof.report import step_words, worth_a_row
from dlprof.report.console import Column, Page
from dlprof.report.model import EpochTime, PhaseTime, Report, StepParts
from dlprof.schema.vocabulary import Phase, ProcessRole, StepTime
from dlprof.units import bar, duration, percent, safe, times

_RECOMPILATIONS = 6
"""Rows of recompilations that are shown."""
_EPOCHS = 4
"""So many epochs are shown; of more, the first and the last two."""
_PART_BAR = 30
_CALLS = (Phase.FIT, Phase.EVALUATE, Phase.PREDICT)
"""Phases that have steps, when they finish one."""

_MAY_HAVE_TRAINED_NS = 500_000_000
"""CPU time from which on a process may have done more than help: an engine's import takes more."""


def phases(page: Page, report: Report) -> None:
    """The wall time by phase."""
    wall = report.wall_ns
    page.title("Phases", "of the trace" if report.imported else f"of the wall time, main thread{_others(report)}")
    table = page.table(("phase", "left"), ("time", "right"), ("%", "right"), ("count", "right"), ("", "left"))
    width = min(40, page.console.width - 55)
    shown, rest_ns = _worth_a_row(report) if page.brief else (report.phases, 0)
    for phase in shown:
        drawn = _phase_bar(page, phase, wall, width)
        times = duration(phase.dur_ns), percent(phase.dur_ns, wall)
        table.add_row(_phase_name(phase), *times, f"{phase.count or ''}", drawn)
    if rest := len(report.phases) - len(shown):
        table.add_row(worth_a_row.others(rest), duration(rest_ns), percent(rest_ns, wall), "", "")
    unattributed = report.unattributed_ns
    table.add_row(Phase.UNATTRIBUTED, duration(unattributed), percent(unattributed, wall), "", "")
    page.show(table)


def _others(report: Report) -> str:
    """Other threads that phases are of while they train."""
    names = tuple(dict.fromkeys(one.thread for one in report.phase_threads))
    if not names:
        return ""
    return f"; {safe(names[0])} while it trains" if len(names) == 1 else f"; {len(names)} others while they train"


def _worth_a_row(report: Report) -> tuple[Sequence[PhaseTime], int]:
    """The phases with 1 % of the wall time and more, and the time of the others, where there are several (ns)."""
    least = worth_a_row.LEAST_SHARE * (report.wall_ns or 0)
    small = {phase.name for phase in report.phases if phase.dur_ns < least}
    if len(small) < 2:
        return report.phases, 0
    rest_ns = sum(phase.dur_ns for phase in report.phases if phase.name in small and phase.parent not in small)
    return [phase for phase in report.phases if phase.name not in small], rest_ns


def _phase_name(phase: PhaseTime) -> str:
    return phase.name if phase.parent is None else "  " + phase.name.partition(".")[2]


def _phase_bar(page: Page, phase: PhaseTime, wall_ns: int | None, width: int) -> Text:
    share = phase.dur_ns / wall_ns if wall_ns else 0
    return Text(bar(share, width, ascii_only=page.ascii), style="cyan" if phase.parent is None else "dim")


def steps(page: Page, report: Report) -> None:
    """Step times of each loop, and epochs."""
    main = report.steps
    if main is None:
        page.title("Steps")
        page.say(no_steps(report), indent=2)
        return
    page.title("Steps", "median, p95 and throughput over steps in which nothing was compiled")
    names = ("loop", "count", "first", "median", "p95", "call", "input", "samples/s", "compiled")
    table = page.table(*[(name, "left" if name == "loop" else "right") for name in names])
    in_call = {loop.loop for loop in report.step_summaries if step_words.fetches_in_call(report, loop.loop)}
    for loop in report.step_summaries:
        table.add_row(*_loop_row(loop, input_in_call=loop.loop in in_call))
    page.show(table)
    if in_call:
        page.say("input: this backend fetches the batch inside the step function; that wait is not measured", "dim", 2)
    for loop in report.step_summaries:
        if loop.how is not StepTime.MEASURED:
            page.say(f"{loop.loop}: {step_words.how(loop) or loop.unknown}", "dim", 2)
    if main.asynchronous_dispatch:
        page.say("call: dispatch only; the work itself goes on after the call", "dim", 2)
    for place in report.loops:
        if place.how is FoundBy.INFERRED:
            page.say(step_words.place(place), "dim", 2)
    _epochs(page, report.epochs)


def no_steps(report: Report) -> str:
    """That a run has no steps, and why; or that it is not known."""
    lost = report.missing("steps")
    if lost:
        return f"not measured, because {safe(lost)}"
    return f"none known: {why_no_steps(report)}" if report.unrecorded is not None else f"none: {why_no_steps(report)}"


def why_no_steps(report: Report) -> str:
    """Why a traced run has no steps."""
    called = [phase.name for phase in report.phases if phase.name in _CALLS]
    end = report.unrecorded
    if end is not None:
        what = f"no step of {called[0]} was finished" if called else "no training was seen"
        return f"{what} up to {duration(end.since_ns)}; what came then was not recorded, because {safe(end.reason)}"
    if called:
        return f"no step of {called[0]} was finished"
    if report.attached and report.outside:
        return "they are measured inside a process only (dlprof trace)"
    if report.outside:
        return "the program marked none"
    apart = sum(one.role is not ProcessRole.MAIN and one.run is None and _worked(one) for one in report.processes)
    if apart:
        whom = "a process that it started was" if apart == 1 else f"{apart} processes that it started were"
        return f"no training was seen in the program itself; {whom} not looked into (dlprof report RUN processes)"
    return "no training was seen (a loop of your own: dlprof help own-loops)"


def _worked(process: ProcessSummary) -> bool:
    """Whether a process below the program did so much that it may have trained."""
    return (process.cpu_ns or 0) >= _MAY_HAVE_TRAINED_NS


def _loop_row(loop: StepSummary, *, input_in_call: bool) -> list[str]:
    times = [duration(ns) for ns in (loop.first_ns, loop.median_ns, loop.p95_ns, loop.call_median_ns)]
    waited = "in call" if input_in_call else duration(loop.input_median_ns)
    rate = f"{loop.samples_per_s:,.0f}" if loop.samples_per_s else "-"
    return [loop.loop, f"{loop.count}", *times, waited, rate, f"{loop.compiled}"]


def _epochs(page: Page, epochs: Sequence[EpochTime]) -> None:
    trainings = {loop: number for number, loop in enumerate(dict.fromkeys(epoch.loop_id for epoch in epochs), 1)}
    shown = epochs if len(epochs) <= _EPOCHS else [*epochs[:1], *epochs[-2:]]
    for epoch in shown:
        of = f"training {trainings[epoch.loop_id]}, " if len(trainings) > 1 else ""
        values = "  ".join(f"{safe(name)} {value:.4g}" for name, value in epoch.metrics.items())
        page.say(f"{of}epoch {epoch.epoch + 1:<3} {duration(epoch.dur_ns):>9}   {values}", "dim", 2)
    if len(shown) < len(epochs):
        of = f" of {len(trainings)} trainings" if len(trainings) > 1 else ""
        page.say(f"... the first and the last two of {len(epochs):,} epochs{of}", "dim", 2)


def recompilations(page: Page, report: Report) -> None:
    """Functions that were compiled more than once, and why."""
    every = report.recompilations
    if not every:
        return
    count, time_ns = sum(one.count for one in every), sum(one.time_ns for one in every)
    page.title(f"Compiled again  {times(count)}, {duration(time_ns)} in all", "beyond the first time of each function")
    table = page.table(("function", "left"), ("count", "right"), ("time", "right"), ("line", "left"), ("why", "left"))
    for one in every[:_RECOMPILATIONS]:
        line = f"{one.file}:{one.line}" if one.file else "-"
        table.add_row(Text(safe(one.function)), str(one.count), duration(one.time_ns), line, Text(safe(_why(one))))
    page.show(table)
    if len(every) > _RECOMPILATIONS:
        page.say(f"and {len(every) - _RECOMPILATIONS} more: --json", "dim", indent=2)


def graph_compilations(page: Page, report: Report) -> None:
    """What it took to make graphs, where an engine tells the stages of that apart."""
    every = report.graph_compilations
    if not any(one.trace_ns is not None for one in every):
        return
    whole = sum(one.time_ns for one in every)
    page.title(f"Graphs made  {duration(whole)} in all", "by function; - where the engine does not tell it apart")
    names = ("trace", "lower", "compile", "first run")
    right: tuple[Column, ...] = tuple((name, "right") for name in ("times", "all", *names))
    table = page.table(("function", "left"), *right, ("line", "left"))
    for one in every[:_RECOMPILATIONS]:
        stages = (one.trace_ns, one.lower_ns, one.compile_ns, one.first_run_ns)
        line = f"{one.file}:{one.line}" if one.file else "-"
        times = ["-" if ns is None else duration(ns) for ns in (one.time_ns, *stages)]
        table.add_row(Text(safe(one.function)), str(one.count), *times, Text(safe(line)))
    page.show(table)
    if len(every) > _RECOMPILATIONS:
        page.say(f"and {len(every) - _RECOMPILATIONS} more: --json", "dim", indent=2)


def graph_breaks(page: Page, report: Report) -> None:
    """Where graphs had to end, and why."""
    every = report.graph_breaks
    if not every:
        return
    page.title(
        f"Graph breaks  {len(every)}", "where a compiled graph ends and Python goes on; as the compiler met them"
    )
    table = page.table(("line", "left"), ("met", "right"), ("reason", "left"))
    for one in every[:_RECOMPILATIONS]:
        line = f"{one.file}:{one.line}" if one.file else "-"
        table.add_row(Text(safe(line)), str(one.count), Text(safe(one.reason)))
    page.show(table)
    if len(every) > _RECOMPILATIONS:
        page.say(f"and {len(every) - _RECOMPILATIONS} more: --json", "dim", indent=2)


def _why(recompilation: Recompilation) -> str:
    """The cause of a recompilation, for people."""
    if recompilation.what is None:
        return "not told; the arguments are as before"
    if recompilation.what == "guard":
        return " ".join((recompilation.now or "").split())
    before, now = (text if text is not None else "none" for text in (recompilation.before, recompilation.now))
    return f"{recompilation.argument}: {before} to {now}"


_UNSPLIT = "in host python: where calls of steps begin and end is not known"
_UNSEEN = "not known: the trace shows nothing of the kind"


def step_parts(page: Page, report: Report) -> None:
    """What a step consists of, from a kernel window."""
    split = report.step_split
    if split is None:
        return
    whole = split.plain_step_ns or split.window_step_ns
    mean = f"mean of {split.steps} in the trace; what the GPU did, or the host where there is none"
    page.title(f"A {step_words.kind(split.loop)} of {duration(whole)}", mean if report.imported else _scaled(split))
    table = page.table(("part", "left"), ("time", "right"), ("%", "right"), ("", "left"))
    for part in split.parts:
        time_ns = part.plain_ns if split.plain_step_ns else part.window_ns
        table.add_row(*_part_row(page, part.name, time_ns, whole, _UNSEEN if report.imported else _UNSPLIT))
    page.show(table)
    stood = report.steps.collectives_ns if report.steps is not None and report.steps.loop == split.loop else None
    if stood:
        page.say(
            f"a plain step stands still in collectives for {duration(stood)} (median), for ranks that come later and "
            "for the transfer: no work of Python's own",
            "dim",
            2,
        )
    if split.slow_epoch is not None:
        page.say(_of_epoch(split.slow_epoch), "yellow", 2)


def _of_epoch(slow: SlowEpoch) -> str:
    return (
        f"traced in epoch {slow.epoch + 1}, whose plain steps took {duration(slow.step_ns)}; those of later epochs "
        f"take {duration(slow.later_ns)}: what is done once, as filling a cache of data, is in these parts alone"
    )


def _scaled(split: StepParts) -> str:
    traced = f"{split.steps} {step_words.kind(split.loop)}s under {split.engine}'s tracer"
    if split.plain_step_ns:
        return f"{traced} ({split.slowdown:.2f} x a plain one), scaled to a plain step"
    return f"{traced}, not scaled: there was no plain step"


def _part_row(page: Page, name: str, time_ns: int | None, whole_ns: int, why_none: str) -> list[str]:
    if time_ns is None:
        return [name, "-", "-", why_none]
    drawn = bar(time_ns / whole_ns if whole_ns else 0, _PART_BAR, ascii_only=page.ascii)
    return [name, duration(time_ns), percent(time_ns, whole_ns), drawn]
