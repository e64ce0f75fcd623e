"""Makes the tables of a run whose script is over. What this needs is large, and loaded only then."""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Iterator
from dataclasses import dataclass

from dlprof_probes import masking
from msgspec.structs import replace

from dlprof.errors import DlprofError
from dlprof.ingest.file_names import FileNames
from dlprof.ingest.own import lines as lines_reader
from dlprof.launch import signals, sources
from dlprof.launch.process import Outcome
from dlprof.launch.recorded import Recorded
from dlprof.launch.stops import Stop
from dlprof.pipeline.ingest import ingest
from dlprof.run_names import name_to_type
from dlprof.rundir import RunDir
from dlprof.schema import manifest as manifests
from dlprof.schema.manifest import Manifest
from dlprof.schema.vocabulary import RunState, Severity
from dlprof.store.run import Run


@dataclass(frozen=True)
class Traced:
    """A traced run.

    Attributes:
        outcome: How the script ended.
        run: The run with its tables; None where they could not be made.
        failure: Why not, in that case.
        rest: A sentence on what there is of the run then, after a blank; empty: nothing is known of it.
    """

    outcome: Outcome
    run: Run | None
    failure: DlprofError | None = None
    rest: str = ""


def store(folder: RunDir, manifest: Manifest, recorded: Recorded) -> Traced:
    """The run with its tables. The script has run: whatever happens from here on, it is its end that counts."""
    try:
        manifest = _last_manifest(manifest, recorded)
        folder.write_manifest(manifest)
        _keep_sources(folder, manifest)
        manifest = ingest(folder, fresh=True, last_probe=recorded.last_probe)
    except DlprofError as error:
        return Traced(recorded.outcome, None, error, _rest(folder))
    except Exception as error:  # noqa: BLE001  (a bug of ours must not change how the script's run ends)
        text = f"A bug in dlprof: {type(error).__name__}: {error}."
        failure = DlprofError(text, hint=f"dlprof report {name_to_type(folder)} --rebuild")
        return Traced(recorded.outcome, None, failure, _rest(folder))
    finally:
        if recorded.last_probe is not None:
            recorded.last_probe()  # nothing of ours outlives the run, whatever became of its tables
    return Traced(recorded.outcome, Run(folder, manifest))


def _rest(folder: RunDir) -> str:
    return " Raw artifacts stay in its folder." if folder.raw.is_dir() else " Its folder was removed meanwhile."


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
            stopped_ns=sum(stop.end_ns - stop.begin_ns for stop in outcome.stops),
            replaced_by=outcome.replaced.program if outcome.replaced else None,
        ),
        gpu_tracer=recorded.gpu_tracer,
        probes=recorded.probes,
        health=(
            *first.health,
            *_stood_still(outcome),
            *_went_on_as(outcome),
            *_left_running(outcome, keep_arguments=first.config["keep_arguments"]),
        ),
    )


_TOLD_STOPS = 5
"""Stops that are told one by one."""


def _stood_still(outcome: Outcome) -> Iterator[manifests.HealthEntry]:
    """The time in which the script was stopped: wall time, and no work of anybody's."""
    if not outcome.stops:
        return
    whole_s = sum(stop.end_ns - stop.begin_ns for stop in outcome.stops) / 1e9
    told = "; ".join(_told_stop(stop) for stop in outcome.stops[:_TOLD_STOPS])
    more = len(outcome.stops) - _TOLD_STOPS
    text = (
        f"The script was stopped for {whole_s:.1f} s: {told}{f'; and {more} times more' if more > 0 else ''}. "
        "The wall time, and the phases and steps in which it stood, have that time in them."
    )
    yield manifests.HealthEntry(
        slug="script-stopped", severity=Severity.WARNING, message=text, count=len(outcome.stops)
    )


def _told_stop(stop: Stop) -> str:
    by = signals.name(stop.signal) if stop.signal is not None else "SIGSTOP or SIGTSTP"
    least = "at least " if stop.is_least else ""
    return f"{least}{(stop.end_ns - stop.begin_ns) / 1e9:.1f} s by {by}, from {stop.begin_ns / 1e9:.1f} s on"


def _went_on_as(outcome: Outcome) -> Iterator[manifests.HealthEntry]:
    if outcome.replaced is None:
        return
    program, seen_s = outcome.replaced.program, outcome.replaced.seen_ns / 1e9
    text = (
        f"The script replaced itself by {program} (exec), seen at {seen_s:.1f} s. What ran after that is in the "
        "wall time, the cores and the exit code, not in the phases, steps and lines."
    )
    yield manifests.HealthEntry(slug="script-replaced", severity=Severity.WARNING, message=text)


def _left_running(outcome: Outcome, *, keep_arguments: bool) -> Iterator[manifests.HealthEntry]:
    if outcome.left:
        left = "; ".join(f"{pid} {command}" for pid, command in outcome.left.items())
        left = left if keep_arguments else masking.text(left)
        text = f"Processes that the script started are still running: {left}"
        yield manifests.HealthEntry(
            slug="processes-left", severity=Severity.INFO, message=text, count=len(outcome.left)
        )


def _keep_sources(folder: RunDir, manifest: Manifest) -> None:
    names = FileNames(manifest.script_folder, manifest.cells)
    files = {names.short(file): file for file in lines_reader.files(folder.raw / "lines.json")}
    sources.keep_cells(folder, {short: file for short, file in files.items() if file in names.cells})
    sources.keep_sources(folder, {short: file for short, file in files.items() if file not in names.cells})


_PACKING = 3
"""Half of the time of gzip's usual level, for a fifth more bytes (of traces of torch)."""


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
            part.write_bytes(gzip.compress(path.read_bytes(), _PACKING))
            part.replace(path.with_suffix(".json.gz"))  # whole, or not there: dlprof may be killed meanwhile
            path.unlink()
