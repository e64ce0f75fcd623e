"""The report of a run on a terminal: its sections, in their order."""

from __future__ import annotations

from typing import TextIO

from dlprof.report import summary
from dlprof.report.console import Page, make_page
from dlprof.report.model import MeasuredGpus, Report
from dlprof.report.sections import code, devices, head, machine, program, quality
from dlprof.store.run import Run


def print_report(run: Run, *, file: TextIO, top: int = 10, plain: bool = False) -> None:
    """Print the report of a run.

    Args:
        run: The run.
        file: The stream that it is printed to.
        top: How many lines at most.
        plain: No colour, only ASCII.
    """
    page = make_page(file, plain=plain)
    report = summary.summarise(run, top=top)
    if report.imported:
        _print_imported(page, report)
    else:
        _print_traced(page, report)


def _print_traced(page: Page, report: Report) -> None:
    for section in (
        head.traced,
        program.phases,
        program.steps,
        program.recompilations,
        program.step_parts,
        devices.busy,
        devices.kernels,
        devices.gpu_idle,
        code.lines,
        code.stacks,
        machine.cores,
        machine.gpu,
        quality.costs,
        quality.health,
        head.next_steps,
    ):
        section(page, report)


def _print_imported(page: Page, report: Report) -> None:
    """Of foreign traces only what is in them is shown; of a traced run also what is missing, and why."""
    head.imported(page, report)
    if report.phases:
        program.phases(page, report)
    if report.steps is not None:
        program.steps(page, report)
    program.step_parts(page, report)
    devices.busy(page, report)
    devices.kernels(page, report)
    devices.gpu_idle(page, report)
    for section, is_there in (
        (code.lines, bool(report.lines)),
        (code.stacks, bool(report.stacks)),
        (machine.cores, bool(report.cores)),
        (machine.gpu, isinstance(report.gpu, MeasuredGpus)),
    ):
        if is_there:
            section(page, report)
    quality.health(page, report)
    head.next_steps(page, report)
