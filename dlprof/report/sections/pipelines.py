"""Loaders and their workers: what they did for the batches, by sampled stacks."""

from __future__ import annotations

from collections.abc import Iterable

from dlprof.analysis.input_pipeline import InputPipeline, InputWorker
from dlprof.analysis.loaders import Loader
from dlprof.report.console import Page
from dlprof.report.model import Report
from dlprof.units import duration, safe

_WORKERS = 8
"""Workers that are shown one by one."""


def pipelines(page: Page, report: Report) -> None:
    """The input pipelines; nothing where no loader was seen."""
    if not report.input_pipelines:
        return
    page.title("Input", "passes, waits and CPU time are measured; what workers did is from sampled stacks")
    for one in report.input_pipelines:
        _show(page, one)


def all_pipelines(page: Page, report: Report) -> None:
    """The same, also where there are none: somebody has asked."""
    if report.input_pipelines:
        pipelines(page, report)
        return
    page.title("Input")
    text = "no loader was seen: PyTorch's DataLoader, PyDataset, Sequence and generators of Keras are known"
    page.say(f"{text}; stages of tf.data are not told apart", indent=2)


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
    kind = "process" if loader.uses_processes else "thread"
    many = {"process": "processes"}.get(kind, f"{kind}s") if loader.workers > 1 else kind
    queue = f", {loader.queue} batches ahead{' for each' * loader.queue_per_worker}" if loader.queue else ""
    return f"{loader.workers} {many}{', persistent' if loader.persistent else ''}{queue}"


def _passes(loader: Loader) -> str:
    first = [one.first_wait_ns for one in loader.passes if one.first_wait_ns is not None]
    ends = [one.last_wait_ns for one in loader.passes if one.last_wait_ns is not None]
    said = [f"{len(loader.passes)} passes, {loader.items} batches"]
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
