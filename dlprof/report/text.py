"""The report of a run on a terminal: the answer in a few lines, some of its sections, or all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TextIO

from dlprof.analysis.findings import diagnose
from dlprof.report import answer, summary
from dlprof.report.console import Page, make_page
from dlprof.report.model import MeasuredGpus, Report
from dlprof.report.section_names import SECTIONS
from dlprof.report.sections import (
    causes,
    code,
    devices,
    followed,
    head,
    latency,
    machine,
    memory,
    pipelines,
    processes,
    program,
    quality,
    syncs,
)
from dlprof.schema.vocabulary import RunSource
from dlprof.store.run import Run
from dlprof.units import safe

Section = Callable[[Page, Report], None]


def print_answer(run: Run, *, file: TextIO, plain: bool = False, own_python: str | None = None) -> None:
    """Print the answer of a run: 30 lines at most.

    Args:
        run: The run.
        file: The stream that it is printed to.
        plain: No colour, only ASCII.
        own_python: The interpreter of dlprof itself when it made the run; None: not known.
    """
    report = summary.summarise(run, diagnosis=diagnose.brief(run), in_short=True)
    answer.print_answer(make_page(file, plain=plain), report, run.typed, _ran_on(run, own_python))


def _ran_on(run: Run, own_python: str | None) -> str:
    """The interpreter that ran the script, for people."""
    backend, given = run.manifest.backend, run.manifest.config.get("python")
    if backend.source == RunSource.MANAGED:
        return f"the managed environment of {backend.name}"
    if backend.source == RunSource.PYTHON and given:
        return f"{given}"
    return f"dlprof's own Python, {own_python}" if own_python else "dlprof's own Python"


def print_report(run: Run, *, file: TextIO, top: int = 10, plain: bool = False) -> None:
    """Print all of the report of a run.

    Args:
        run: The run.
        file: The stream that it is printed to.
        top: How many lines at most.
        plain: No colour, only ASCII.
    """
    page = make_page(file, plain=plain, typed=run.typed)
    page.brief = True
    report = summary.summarise(run, top=top, diagnosis=diagnose.brief(run))
    if report.imported:
        _print_imported(page, report)
    else:
        _print_traced(page, report)


def print_sections(run: Run, names: Sequence[str], *, file: TextIO, top: int = 10, plain: bool = False) -> None:
    """Print some sections of the report of a run.

    Args:
        run: The run.
        names: Of `dlprof.report.section_names`, in the order in which they are printed.
        file: The stream that it is printed to.
        top: How many lines at most.
        plain: No colour, only ASCII.
    """
    page = make_page(file, plain=plain, typed=run.typed)
    diagnosis = diagnose.brief(run) if "findings" in names else None
    report = summary.summarise(run, top=top, diagnosis=diagnosis)
    for name in names:
        for section in _SECTIONS[name]:
            _print(section, page, report)


_MADE_OF: Mapping[Section, tuple[str, Sequence[str]]] = {
    program.phases: ("Phases", ("phases",)),
    program.recompilations: ("Compiled again", ("spans",)),
    program.graph_compilations: ("Graphs", ("spans",)),
    program.graph_breaks: ("Graph breaks", ("spans",)),
    syncs.places: ("Values asked for", ("syncs",)),
    program.step_parts: ("Parts of a step", ("kernel_windows", "kernel_ops", "kernel_events")),
    devices.kernels: ("Kernels", ("kernel_ops", "kernel_events")),
    devices.gpu_idle: ("Idle time of devices", ("gpu_gaps", "kernel_events")),
    code.lines: ("Lines", ("lines",)),
    code.stacks: ("Sampled stacks", ("stacks", "frames", "phase_intervals")),
    machine.cores: ("Cores and memory", ("cores",)),
    machine.gpu: ("GPU", ("gpu",)),
    quality.costs: ("Overhead ledger", ("probes",)),
}
"""What a section is called where it cannot be shown, and the tables without which it cannot."""


def _lost(section: Section, report: Report) -> str | None:
    """Why a section cannot be shown, where its tables are lost."""
    return report.missing(*_MADE_OF[section][1]) if section in _MADE_OF else None


def _print(section: Section, page: Page, report: Report, *, is_there: bool = True) -> None:
    why = _lost(section, report)
    if why is not None:
        page.title(_MADE_OF[section][0])
        page.say(f"not measured, because {safe(why)}", indent=2)
    elif is_there:
        section(page, report)


def _kernels(page: Page, report: Report) -> None:
    """The kernels, or why there are none."""
    if (report.kernels is not None and report.kernels.rows) or _lost(devices.kernels, report):
        _print(devices.kernels, page, report)
        return
    page.title("Kernels")
    machine.not_measured(page, report, "kernels")


def _sources(page: Page, report: Report) -> None:
    page.title("Sources")
    if report.sources:
        head.sources(page, report)
    else:
        page.say("none: the run was traced here, not imported", indent=2)


def _memory(page: Page, report: Report) -> None:
    why = report.missing("process_samples", "machine", "memory_owners")
    if why is not None:
        page.title("Memory")
        page.say(f"not measured, because {safe(why)}", indent=2)
    else:
        memory.summary(page, report.memory)


_SECTIONS: Mapping[str, Sequence[Section]] = {
    "findings": (causes.all_findings,),
    "phases": (program.phases,),
    "steps": (
        program.steps,
        latency.calls,
        program.graph_compilations,
        program.recompilations,
        program.graph_breaks,
        syncs.places,
        program.step_parts,
    ),
    "kernels": (_kernels, devices.gpu_idle),
    "lines": (code.lines,),
    "stacks": (code.stacks,),
    "input": (pipelines.all_pipelines,),
    "processes": (processes.all_processes,),
    "followed": (followed.all_runs,),
    "machine": (machine.cores, machine.gpu),
    "memory": (_memory,),
    "costs": (quality.costs,),
    "health": (quality.health,),
    "sources": (_sources,),
}
assert list(_SECTIONS) == list(SECTIONS)  # noqa: S101  (names are kept apart, so that --help need not load all this)


def _print_traced(page: Page, report: Report) -> None:
    for section in (
        head.traced,
        causes.all_findings,
        program.phases,
        program.steps,
        latency.calls,
        program.graph_compilations,
        program.recompilations,
        program.graph_breaks,
        syncs.places,
        program.step_parts,
        devices.busy,
        devices.kernels,
        devices.gpu_idle,
        code.lines,
        code.stacks,
        pipelines.pipelines,
        processes.processes,
        followed.runs,
        machine.cores,
        machine.gpu,
        _memory,
        quality.costs,
        quality.health,
        head.next_steps,
    ):
        _print(section, page, report)


def _print_imported(page: Page, report: Report) -> None:
    """Of foreign traces only what is in them is shown; of a traced run also what is missing, and why."""
    head.imported(page, report)
    if report.findings:
        causes.all_findings(page, report)
    _print(program.phases, page, report, is_there=bool(report.phases))
    if report.steps is not None or report.missing("steps"):
        program.steps(page, report)
    for section, is_there in (
        (program.step_parts, True),
        (devices.busy, True),
        (devices.kernels, True),
        (devices.gpu_idle, True),
        (code.lines, bool(report.lines)),
        (code.stacks, bool(report.stacks)),
        (machine.cores, bool(report.cores)),
        (machine.gpu, isinstance(report.gpu, MeasuredGpus)),
    ):
        _print(section, page, report, is_there=is_there)
    quality.health(page, report)
    head.next_steps(page, report)
