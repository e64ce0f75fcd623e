"""Loaders and their workers: what they did for the batches, by sampled stacks."""

from __future__ import annotations

from collections.abc import Iterable

from dlprof.analysis.input_graphs import GraphStage, InputGraph
from dlprof.analysis.input_pipeline import InputPipeline, InputWorker
from dlprof.analysis.loaders import Loader
from dlprof.report.console import Page
from dlprof.report.model import Report
from dlprof.units import counted, duration, safe

_GRAPHS = 4
"""Pipelines of the engine's own that are shown: a step rarely has more than one."""
_DEEPEST = 12
"""Stages below that are not indented further."""
_WORKERS = 8
"""Workers that are shown one by one."""


def pipelines(page: Page, report: Report) -> None:
    """The input pipelines; nothing where no loader was seen."""
    if report.input_pipelines:
        page.title("Input", "passes, waits and CPU time are measured; what workers did is from sampled stacks")
    for one in report.input_pipelines:
        _show(page, one)
    if report.input_graphs:
        page.title("Stages of the input", "by the engine's own profiler, in kernel windows; work is time of threads")
    for graph in report.input_graphs[:_GRAPHS]:
        _show_graph(page, graph)


def all_pipelines(page: Page, report: Report) -> None:
    """The same, also where there are none: somebody has asked."""
    if report.input_pipelines or report.input_graphs:
        pipelines(page, report)
        return
    page.title("Input")
    text = "no loader was seen: DataLoader of PyTorch and Gluon, PyDataset, Sequence and generators of Keras are known"
    page.say(f"{text}; stages of tf.data are told by kernel windows, and none was", indent=2)


def _show(page: Page, one: InputPipeline) -> None:
    loader = one.loader
    at = f" at {safe(loader.file)}:{loader.line}" if loader.file else ""
    page.say(f"{safe(loader.called)}{at}: {_settings(loader)}", indent=2)
    page.say(_passes(loader), "dim", 2)
    table = page.table(("who", "left"), ("CPU", "right"), ("busy", "right"), ("did", "left"), ("at", "left"))
    for worker in one.workers[:_WORKERS]:
        table.add_row(*_row(worker))
    if one.calling is not None:
        table.add_row(*_row(one.calling))
    page.show(table)
    left = len(one.workers) - _WORKERS
    if left > 0:
        page.say(f"... {left} more workers", "dim", 2)
    for text in one.untold:
        page.say(f"{text[:1].upper()}{text[1:]}.", "dim", 2)


def _settings(loader: Loader) -> str:
    if not loader.workers:
        return "no workers"
    queue = f", {loader.queue} batches ahead{' for each' * loader.queue_per_worker}" if loader.queue else ""
    return f"{loader.staff}{', persistent' if loader.persistent else ''}{queue}"


def _passes(loader: Loader) -> str:
    first = [one.first_wait_ns for one in loader.passes if one.first_wait_ns is not None]
    ends = [one.last_wait_ns for one in loader.passes if one.last_wait_ns is not None]
    said = [f"{counted(len(loader.passes), 'pass', 'passes')}, {counted(loader.items, 'batch', 'batches')}"]
    said.append(f"begun in {_sum(one.open_ns for one in loader.passes)}")
    said += [f"first batches {_sum(first)}"] * bool(first) + [f"ended in {_sum(ends)}"] * bool(ends)
    return f"{', '.join(said)}, inside of `next` {_sum(one.waited_ns for one in loader.passes)}"


def _sum(times: Iterable[int]) -> str:
    return duration(sum(times))


def _row(one: InputWorker) -> list[str]:
    did = ", ".join(f"{stage.stage} {100 * stage.share:.0f} %" for stage in one.stages if stage.share >= 0.01)
    at = "; ".join(f"{safe(line.file)}:{line.line} {100 * line.share:.0f} %" for line in one.lines[:2])
    busy = "-" if one.busy is None else f"{100 * one.busy:.0f} %"
    return [one.name, duration(one.cpu_ns), busy, did or "not sampled", at or "-"]


def _show_graph(page: Page, graph: InputGraph) -> None:
    kind = f"{graph.loop} step" if graph.loop else "step"
    steps = f" of {counted(graph.steps, kind)}" if graph.steps else ""
    each = f", {duration(graph.waited_ns / graph.batches)} inside of each call for one" if graph.batches else ""
    page.say(f"Kernel windows{steps}: {counted(graph.batches, 'batch', 'batches')}{each}", "dim", 2)
    table = page.table(
        ("stage", "left"), ("elements", "right"), ("work", "right"), ("a batch", "right"), ("waiting", "right"),
        ("settings", "left"), ("at", "left"),
    )  # fmt: skip
    depths: list[int] = []
    for place, stage in enumerate(graph.stages):
        depths.append(0 if stage.parent is None else depths[stage.parent] + 1)
        mark = " <- slowest" if place == graph.slowest else ""
        batch = None if stage.limit_ns is None or not graph.batches else stage.limit_ns / graph.batches
        at = f"{safe(stage.file)}:{stage.line}" if stage.file else "-"
        function = f" {safe(stage.function)}" if stage.function else ""
        table.add_row(
            f"{' ' * min(depths[-1], _DEEPEST)}{safe(stage.name)}{mark}",
            f"{stage.elements}",
            duration(stage.work_ns),
            duration(batch),
            duration(stage.waiting_ns),
            _stage_settings(stage) or "-",
            f"{at}{function}",
        )
    page.show(table)
    if not all(stage.elements for stage in graph.stages):
        page.say("Of stages with 0 elements no call both began and ended in a window.", "dim", 2)


def _stage_settings(stage: GraphStage) -> str:
    said = [f"batches of {stage.batch_size}"] * (stage.batch_size is not None)
    tuned = " (autotuned)" * bool(stage.autotuned)
    if stage.parallelism is not None:
        said.append(f"{stage.parallelism} at a time{tuned}")
    if stage.buffer is not None:
        held = f", held {stage.buffered:.1f}" if stage.buffered is not None else ""
        said.append(f"room for {stage.buffer}{tuned * (stage.parallelism is None)}{held}")
    if stage.starting_ns:
        said.append(f"began in {duration(stage.starting_ns)}")
    return ", ".join(said)
