"""Runs a script, or a cell of a notebook, under the probes, and makes the tables of the run."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dlprof_probes import masking
from msgspec.structs import replace

from dlprof import rundir
from dlprof.config import TraceConfig
from dlprof.errors import DlprofError, Report, UnstoredError
from dlprof.launch import heap, machine, memory_limit, ranks, seal, sources, system, target
from dlprof.launch.preloading import Preloading
from dlprof.launch.recorded import ProbeStates, Recorded, read_anchor
from dlprof.launch.traced_script import TracedScript
from dlprof.launch.view import View
from dlprof.pipeline import followed, last_manifest, rank_folders
from dlprof.run_names import name_to_type
from dlprof.rundir import RunDir
from dlprof.schema import manifest as manifests
from dlprof.schema.manifest import Manifest
from dlprof.schema.vocabulary import RunState
from dlprof.version import __version__

if TYPE_CHECKING:
    from dlprof.launch.traced_cell import Cell
    from dlprof.pipeline.storing import Traced

_NEEDED = (
    "dlprof.launch.lone_numpy",
    "pyarrow",
    "pyarrow.parquet",
    "pyarrow.compute",
    "dlprof.store.writer",
    "dlprof.pipeline.storing",
    "numpy.ma",  # pyarrow asks for it with the first array, and for the next one with the first sum
    "pyarrow.acero",
    "numpy.random",  # large, and intervals of means need it
    "dlprof.ingest.formats.registry",
    "dlprof.ingest.own.windows",  # last: a script that is over at once has none
)
"""What a run is stored with: loaded while its script runs, for neither its start nor its end is to wait for that."""


def trace(config: TraceConfig, *, report: Report, view: View, meanwhile: Sequence[str] = ()) -> Traced:
    """Run a script under the probes and make the tables of the run. `storing.pack` makes its artifacts smaller.

    Args:
        config: What to trace, and how.
        report: Takes a line for the user at each slow stage before the script starts.
        view: Shows the run while the script runs.
        meanwhile: Modules that will be needed when the script is over: they are loaded while it runs.

    Raises:
        DlprofError: The run cannot be set up; the script has not been started then.
        UnstoredError: The script has run, but what stores it cannot be loaded.
    """
    asked, config = config, target.without_keras(config)
    if config.script != asked.script:
        report(f"{asked.backend}: {config.script}, the same model without Keras")
    git = machine.GitState(_folder_of(config))
    goal = target.resolve(config, report=report)
    missing = target.keras_missing(goal, config)
    if missing:
        report(f"warning: {missing}")
    name = f"{config.label}-{goal.spec.name if goal.spec else 'exec' if config.program else 'own'}"
    folder = _folder(config, name)
    manifest = _first_manifest(config, goal, git)
    folder.write_manifest(manifest)
    rank_folders.found(manifest, folder)
    if config.script:  # now: it may be changed while it runs, and dlprof may be killed
        script = target.main_file(config.script)
        sources.keep_sources(folder, {script.name: str(script)})
    short = memory_limit.short_for_storing()
    needed = Preloading(() if short else (*_NEEDED, *meanwhile))
    begins = followed.Begins(config, manifest)
    recorded = TracedScript(config, goal, folder, needed, begins).go(view)
    heap.sum_up(folder, goal.interpreter, goal.memray, report=report)
    needed.wait()
    manifest = followed.indexed(manifest, config, recorded)
    if short:
        raise _unstored(short, folder, manifest, recorded)
    try:
        from dlprof.pipeline import storing  # noqa: PLC0415  (large: not before the script has run)
    except (ImportError, MemoryError, OSError) as error:  # `ulimit -v`, or dlprof's packages were changed meanwhile
        text = memory_limit.as_clause() if isinstance(error, MemoryError) else f"{type(error).__name__}: {error}"
        raise _unstored(text, folder, manifest, recorded) from error

    traced = storing.store(folder, manifest, recorded)
    followed.store(begins, recorded)
    return traced


def _unstored(reason: str, folder: RunDir, manifest: Manifest, recorded: Recorded) -> UnstoredError:
    """The script has run; the manifest says how it ended, and the raw artifacts are there for later."""
    if recorded.last_probe is not None:
        states = ProbeStates({probe.name: probe for probe in recorded.probes})
        states.put(recorded.last_probe())
        recorded = replace(recorded, probes=states.all_probes())
    with contextlib.suppress(DlprofError):
        folder.write_manifest(last_manifest.of(manifest, recorded))
    later = f"dlprof report {name_to_type(folder)} makes its tables of the raw artifacts, which stay"
    return UnstoredError(f"the run could not be stored: {reason}; {later}", recorded.outcome.shell_code)


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
    from dlprof.pipeline import storing  # noqa: PLC0415

    system.need_linux("%%dlprof")
    goal = target.notebook()
    folder = rundir.create(Path(config.output) if config.output else None, f"{config.label}-notebook", _now())
    manifest = _first_manifest(config, goal, machine.GitState(_folder_of(config)))
    folder.write_manifest(manifest)
    try:
        recorded = TracedCell(config, folder).go(cell)
    except BaseException:
        folder.write_manifest(replace(manifest, state=RunState.INTERRUPTED))  # this process, the notebook's, goes on
        raise
    traced = storing.store(folder, replace(manifest, cells=dict(cell.names())), recorded)
    storing.pack(traced)
    return traced


def _folder(config: TraceConfig, name: str) -> RunDir:
    """The run folder; of a rank below that of all ranks."""
    output, rank = Path(config.output) if config.output else None, ranks.of_environment(os.environ)
    if rank is None:
        return rundir.create(output, name, _now())
    return rank_folders.create(output, name, rank, _now())


def _now() -> datetime:
    return datetime.now().astimezone()


def _folder_of(config: TraceConfig) -> Path:
    """The folder of the script; the current one for a module or a program."""
    return Path(config.script).absolute().parent if config.script else Path.cwd()


def _first_manifest(config: TraceConfig, goal: target.Target, git: machine.GitState) -> Manifest:
    made = Manifest(
        dlprof_version=__version__,
        state=RunState.RUNNING,
        conductor=_conductor(),
        created=_now().isoformat(timespec="seconds"),
        command=_command(config),
        backend=target.backend(goal),
        interpreter=target.interpreter(goal),
        packages=dict(goal.interpreter.packages) if goal.interpreter else {},
        environment=target.kept_environment(goal),
        machine=machine.describe(),
        git=git.answer(),
        config=config.as_json(),
        clock=manifests.Clock(origin_perf_ns=time.perf_counter_ns(), anchor_start=read_anchor()),
        probes=ProbeStates.of(config).all_probes(),
        script_folder=str(target.main_file(config.script).parent if config.script else Path.cwd()),
        rank=ranks.of_environment(os.environ),
    )
    return replace(made, seal=seal.seal(made))


def _conductor() -> manifests.Conductor | None:
    """This process; None where `/proc` is not mounted, and nobody could tell later whether it still runs."""
    try:
        return manifests.Conductor(pid=os.getpid(), started=rundir.process_start(os.getpid()))
    except OSError:
        return None


def _command(config: TraceConfig) -> manifests.Command:
    argv = config.arguments if config.keep_arguments else masking.words(config.arguments)
    return manifests.Command(
        script=config.script or None,
        module=config.module,
        program=config.program,
        argv=argv,
        masked=argv != config.arguments,
    )
