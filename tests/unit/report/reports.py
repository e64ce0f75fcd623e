"""Reports out of literal figures, and what a part of a report prints of them."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from dlprof.report.console import Page, make_console
from dlprof.report.model import ClockErrors, Exit, Overhead, ProcessUse, Report, UnmeasuredGpus
from dlprof.schema.manifest import Engine, Machine
from tests.unit.runs import S

Section = Callable[[Page, Report], None]


def process_use(**changes: Any) -> ProcessUse:
    """A process that used nothing that was measured."""
    figures: dict[str, Any] = dict.fromkeys(ProcessUse.__struct_fields__)
    return ProcessUse(**{**figures, "processes": 1, **changes})


def report(**changes: Any) -> Report:
    """The report of a run of 10 s of train.py, in which nothing was seen."""
    fields: dict[str, Any] = {
        "run": "r",
        "script": "train.py",
        "arguments": (),
        "state": "finished",
        "source": "managed",
        "backend": "torch",
        "keras_version": "3.15.0",
        "engine": Engine(name="torch", version="2.13"),
        "versions": {},
        "python_version": "3.11.7",
        "machine": Machine(host="h", cpu="x", cores=2),
        "created": "2026-11-21T10:00:00+00:00",
        "wall_ns": 10 * S,
        "phases": (),
        "unattributed_ns": 10 * S,
        "steps": None,
        "step_summaries": (),
        "epochs": (),
        "recompilations": (),
        "step_split": None,
        "kernels": None,
        "gpu_idle": (),
        "sources": (),
        "window_starts": {},
        "lines": (),
        "stacks": (),
        "cores": (),
        "process": process_use(),
        "gpu": UnmeasuredGpus(False, "no driver"),
        "probes": (),
        "overhead": Overhead(None, None, None),
        "health": (),
        "clock": ClockErrors(None, None, None),
        "exit": Exit(0, None),
        **changes,
    }
    return Report(**fields)


def printed(section: Section, content: Report, *, ascii_only: bool = False, brief: bool = False) -> list[str]:
    """The lines that a section prints, without spaces at their ends and without empty ones."""
    out = io.StringIO()
    page = Page(make_console(out), ascii_only=ascii_only)
    page.brief = brief
    section(page, content)
    return [line.rstrip() for line in out.getvalue().splitlines() if line.strip()]


def rows(lines: list[str]) -> list[list[str]]:
    """The cells of a table's lines: what two spaces or more part."""
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in lines]
