"""Looks at a process that runs already, and makes a run of it like any other."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil
from dlprof_probes import masking
from msgspec import structs

from dlprof import rundir
from dlprof.config import TraceConfig
from dlprof.errors import Report, UsageError
from dlprof.launch import attached, machine
from dlprof.launch.recorded import ProbeStates, read_anchor
from dlprof.launch.running_process import Program, RunningProcess
from dlprof.pipeline import storing
from dlprof.schema import manifest as manifests
from dlprof.schema.manifest import Backend, HealthEntry, Manifest
from dlprof.schema.vocabulary import RunSource, RunState, Severity
from dlprof.version import __version__


def attach(config: TraceConfig, pid: int, seconds: float | None, *, report: Report) -> storing.Traced:
    """Look at a process, and make the tables of the run.

    Args:
        config: How to look.
        pid: The process.
        seconds: For how long at most; None: until Ctrl-C, or its end.
        report: Takes a line for the user.

    Raises:
        DlprofError: There is no such process, it may not be looked at, or the run cannot be set up.
    """
    process = RunningProcess(pid)
    try:
        return _attach(config, process, seconds, report)
    finally:
        process.close()


def _attach(config: TraceConfig, process: RunningProcess, seconds: float | None, report: Report) -> storing.Traced:
    wanted = tuple(probe for probe in config.probes if probe in attached.PROBES)
    if not wanted:
        raise UsageError(
            f"There is nothing to measure with --probes {','.join(config.probes) or 'none'} in a process that runs.",
            hint=f"of {', '.join(attached.PROBES)}; lines are counted by dlprof trace",
        )
    config = replace(config, probes=wanted)
    if config.wants("stacks"):
        process.check_stacks()
    program = process.program()
    config = replace(config, **_run(program))
    name = f"{config.label or 'process'}-{process.pid}"
    folder = rundir.create(Path(config.output) if config.output else None, name, datetime.now().astimezone())
    manifest = _first_manifest(config, process, program)
    folder.write_manifest(manifest)
    _announce(process, program, seconds, report)
    looked = attached.Attached(config, process, folder, seconds).go()
    manifest = structs.replace(manifest, health=(_said(looked, process.pid),))
    return storing.store(folder, manifest, looked.recorded)


def _run(program: Program) -> dict[str, Any]:
    """What is run, as settings have it."""
    if program.script is not None:
        return {"script": str(program.script), "arguments": program.arguments}
    if program.module is not None:
        return {"script": "", "module": program.module, "arguments": program.arguments}
    return {"script": "", "program": program.words[0] if program.words else None, "arguments": program.arguments}


def _announce(process: RunningProcess, program: Program, seconds: float | None, report: Report) -> None:
    what = masking.words(list(program.words))
    until = "until it ends" if seconds is None else f"for {seconds:g} s"
    report(f"looking at process {process.pid} ({' '.join(what)[:80]}) {until}; Ctrl-C ends the look, not the process")
    if not process.is_python():
        report("it is no Python: cores, memory, I/O and GPUs, and stacks of the Pythons that it starts")


def _first_manifest(config: TraceConfig, process: RunningProcess, program: Program) -> Manifest:
    argv = config.arguments if config.keep_arguments else masking.words(config.arguments)
    return Manifest(
        dlprof_version=__version__,
        state=RunState.RUNNING,
        conductor=manifests.Conductor(pid=os.getpid(), started=psutil.Process().create_time()),
        created=datetime.now().astimezone().isoformat(timespec="seconds"),
        command=manifests.Command(
            script=config.script or None,
            module=config.module,
            program=config.program,
            argv=tuple(argv),
            masked=tuple(argv) != config.arguments,
        ),
        backend=Backend(source=RunSource.ATTACHED),
        machine=machine.describe(process.pid),
        git=machine.GitState(program.script_folder).answer(),
        config=config.as_json(),
        clock=manifests.Clock(origin_perf_ns=time.perf_counter_ns(), anchor_start=read_anchor()),
        probes=ProbeStates.of(config).all_probes(),
        process=manifests.Process(pid=process.pid),
        script_folder=str(program.script_folder),
    )


def _said(looked: attached.Looked, pid: int) -> HealthEntry:
    outcome = looked.recorded.outcome
    seconds = (outcome.end_ns - outcome.start_ns) / 1e9
    after = "it went on after that" if looked.went_on else "it ended meanwhile; how, only its parent knows"
    if looked.problems:
        text = f"The probe in process {pid} could not put everything back: {'; '.join(looked.problems)}."
        return HealthEntry(slug="attached", severity=Severity.WARNING, message=text)
    if looked.is_inside:
        text = (
            f"Process {pid} ran already: dlprof looked at it for {seconds:.1f} s, and {after}. A training that ran "
            "then is told as if it began with the look; what the process did before is not known."
        )
    else:
        text = (
            f"Process {pid} ran already: dlprof looked at it from outside for {seconds:.1f} s, and {after}. Phases, "
            "steps, kernels and counts of lines are measured inside a process only: dlprof trace starts one."
        )
    return HealthEntry(slug="attached", severity=Severity.INFO, message=text)
