"""Runs a script, or a cell of a notebook, under the probes, and makes the tables of the run."""

from __future__ import annotations

import contextlib
import gzip
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from msgspec.structs import replace

from dlprof import rundir
from dlprof.config import TraceConfig
from dlprof.errors import DlprofError, Report
from dlprof.ingest.file_names import FileNames
from dlprof.ingest.own import lines as lines_reader
from dlprof.launch import machine, sources, target
from dlprof.launch.process import Outcome
from dlprof.launch.recorded import ProbeStates, Recorded, read_anchor
from dlprof.launch.traced_script import TracedScript
from dlprof.launch.view import View
from dlprof.pipeline.ingest import ingest
from dlprof.rundir import RunDir
from dlprof.schema import manifest as manifests
from dlprof.schema.manifest import Manifest
from dlprof.schema.vocabulary import RunState, Severity
from dlprof.store.run import Run
from dlprof.version import __version__

if TYPE_CHECKING:
    from dlprof.launch.traced_cell import Cell


@dataclass(frozen=True)
class Traced:
    """A traced run.

    Attributes:
        outcome: How the script ended.
        run: The run with its tables; None where they could not be made.
        failure: Why not, in that case.
    """

    outcome: Outcome
    run: Run | None
    failure: DlprofError | None = None


def _nothing() -> None:
    pass


def trace(config: TraceConfig, *, report: Report, view: View, meanwhile: Callable[[], None] = _nothing) -> Traced:
    """Run a script under the probes and make the tables of the run. `pack` makes its artifacts smaller afterwards.

    Args:
        config: What to trace, and how.
        report: Takes a line for the user at each slow stage before the script starts.
        view: Shows the run while the script runs.
        meanwhile: Is called while the interpreter says what it has; the script starts when it is over.

    Raises:
        DlprofError: The run cannot be set up; the script has not been started then.
    """
    asked, config = config, target.without_keras(config)
    if config.script != asked.script:
        report(f"{asked.backend}: {config.script}, the same model without Keras")
    with _beside(meanwhile):
        goal = target.resolve(config, report=report)
    missing = target.keras_missing(goal)
    if missing:
        report(f"warning: {missing}")
    name = f"{config.label}-{goal.spec.name if goal.spec else 'exec' if config.program else 'own'}"
    folder = rundir.create(Path(config.output) if config.output else None, name, _now())
    manifest = _first_manifest(config, goal)
    folder.write_manifest(manifest)
    return _stored(folder, manifest, TracedScript(config, goal, folder).go(view))


@contextlib.contextmanager
def _beside(work: Callable[[], None]) -> Iterator[None]:
    """Work is done on a thread of its own, and over at the end."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def trace_cell(config: TraceConfig, cell: Cell) -> Traced:
    """Run a cell of a notebook under the probes, in this process, and make the tables of the run.

    Args:
        config: How to trace; `script` is what the tables call the cell.
        cell: The cell. Whatever it raises is its own affair: it is told by the outcome, never raised here.

    Raises:
        DlprofError: The run cannot be set up; the cell has not been run then.
    """
    # It brings all of the probe along, which only notebooks need.
    from dlprof.launch.traced_cell import TracedCell  # noqa: PLC0415

    goal = target.notebook()
    folder = rundir.create(Path(config.output) if config.output else None, f"{config.label}-notebook", _now())
    manifest = _first_manifest(config, goal)
    folder.write_manifest(manifest)
    try:
        recorded = TracedCell(config, folder).go(cell)
    except BaseException:
        folder.write_manifest(replace(manifest, state=RunState.INTERRUPTED))  # this process, the notebook's, goes on
        raise
    traced = _stored(folder, replace(manifest, cells=dict(cell.names())), recorded)
    pack(traced)
    return traced


def _now() -> datetime:
    return datetime.now().astimezone()


def _stored(folder: RunDir, manifest: Manifest, recorded: Recorded) -> Traced:
    """The run with its tables. The script has run: whatever happens from here on, it is its end that counts."""
    try:
        manifest = _last_manifest(manifest, recorded)
        folder.write_manifest(manifest)
        _keep_sources(folder, manifest)
        manifest = ingest(folder)
    except DlprofError as error:
        return Traced(recorded.outcome, None, error)
    except Exception as error:  # noqa: BLE001  (a bug of ours must not change how the script's run ends)
        text = f"A bug in dlprof: {type(error).__name__}: {error}."
        return Traced(recorded.outcome, None, DlprofError(text, hint=f"dlprof report {folder.path.name} --rebuild"))
    return Traced(recorded.outcome, Run(folder, manifest))


def _first_manifest(config: TraceConfig, goal: target.Target) -> Manifest:
    script = Path(config.script).absolute() if config.script else None
    return Manifest(
        dlprof_version=__version__,
        state=RunState.RUNNING,
        conductor=manifests.Conductor(pid=os.getpid(), started=psutil.Process().create_time()),
        created=_now().isoformat(timespec="seconds"),
        command=manifests.Command(
            script=config.script or None, module=config.module, program=config.program, argv=config.arguments
        ),
        backend=target.backend(goal),
        interpreter=target.interpreter(goal),
        packages=dict(goal.interpreter.packages) if goal.interpreter else {},
        environment=target.kept_environment(goal),
        machine=machine.describe(),
        git=machine.git_state(script.parent if script else Path.cwd()),
        config=config.as_json(),
        clock=manifests.Clock(origin_perf_ns=time.perf_counter_ns(), anchor_start=read_anchor()),
        probes=ProbeStates.of(config).all_probes(),
        script_folder=str(script.resolve().parent) if script else str(Path.cwd()),
    )


def _last_manifest(first: Manifest, recorded: Recorded) -> Manifest:
    outcome = recorded.outcome
    return replace(
        first,
        state=RunState.INTERRUPTED if outcome.interrupts or outcome.killed else RunState.FINISHED,
        clock=recorded.clock,
        process=manifests.Process(
            pid=recorded.pid,
            exit_code=outcome.exit_code,
            signal=outcome.signal,
            wall_ns=outcome.end_ns - outcome.start_ns,
            cpu_user_ns=outcome.user_ns,
            cpu_system_ns=outcome.system_ns,
        ),
        gpu_tracer=recorded.gpu_tracer,
        probes=recorded.probes,
        health=tuple(_left_running(outcome)),
    )


def _left_running(outcome: Outcome) -> Iterator[manifests.HealthEntry]:
    if outcome.left:
        left = "; ".join(f"{pid} {command}" for pid, command in outcome.left.items())
        text = f"Processes that the script started are still running: {left}"
        yield manifests.HealthEntry(
            slug="processes-left", severity=Severity.INFO, message=text, count=len(outcome.left)
        )


def _keep_sources(folder: RunDir, manifest: Manifest) -> None:
    names = FileNames(manifest.script_folder, manifest.cells)
    files = {names.short(file): file for file in lines_reader.files(folder.raw / "lines.json")}
    sources.keep_cells(folder, {short: file for short, file in files.items() if file in names.cells})
    sources.keep_sources(folder, {short: file for short, file in files.items() if file not in names.cells})


def pack(traced: Traced) -> None:
    """Pack raw stacks and traces in JSON, the artifacts of some size, of a run that has its tables.

    The readers take both forms. It may take seconds: nobody waits for it who has the report.
    """
    if traced.run is None:
        return
    folder = traced.run.folder
    stacks = [path for path in folder.stack_files() if path.suffix == ".json"]
    large = [*stacks, *folder.raw.glob("kernels/window-*/*.json")]
    for path in large:
        with contextlib.suppress(OSError):
            part = path.with_suffix(".json.gz.part")
            part.write_bytes(gzip.compress(path.read_bytes(), 6))
            part.replace(path.with_suffix(".json.gz"))  # whole, or not there: dlprof may be killed meanwhile
            path.unlink()
