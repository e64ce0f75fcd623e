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
from dlprof.launch import sources
from dlprof.launch.process import Outcome
from dlprof.launch.recorded import Recorded
from dlprof.pipeline.ingest import ingest
from dlprof.rundir import RunDir, name_to_type
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
    """

    outcome: Outcome
    run: Run | None
    failure: DlprofError | None = None


def store(folder: RunDir, manifest: Manifest, recorded: Recorded) -> Traced:
    """The run with its tables. The script has run: whatever happens from here on, it is its end that counts."""
    try:
        manifest = _last_manifest(manifest, recorded)
        folder.write_manifest(manifest)
        _keep_sources(folder, manifest)
        manifest = ingest(folder, fresh=True)
    except DlprofError as error:
        return Traced(recorded.outcome, None, error)
    except Exception as error:  # noqa: BLE001  (a bug of ours must not change how the script's run ends)
        text = f"A bug in dlprof: {type(error).__name__}: {error}."
        return Traced(recorded.outcome, None, DlprofError(text, hint=f"dlprof report {name_to_type(folder)} --rebuild"))
    return Traced(recorded.outcome, Run(folder, manifest))


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
        health=tuple(_left_running(outcome, keep_arguments=first.config["keep_arguments"])),
    )


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
