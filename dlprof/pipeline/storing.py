"""Makes the tables of a run whose script is over. What this needs is large, and loaded only then."""

from __future__ import annotations

import contextlib
import gzip
from dataclasses import dataclass

from dlprof.errors import DlprofError
from dlprof.ingest.file_names import FileNames
from dlprof.ingest.own import lines as lines_reader
from dlprof.launch import memory_limit, sources
from dlprof.launch.process import Outcome
from dlprof.launch.recorded import Recorded
from dlprof.pipeline import last_manifest
from dlprof.pipeline.ingest import ingest
from dlprof.run_names import name_to_type
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Manifest
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
        manifest = last_manifest.of(manifest, recorded)
        folder.write_manifest(manifest)
        _keep_sources(folder, manifest)
        manifest = ingest(folder, fresh=True, last_probe=recorded.last_probe)
    except DlprofError as error:
        return Traced(recorded.outcome, None, error, _rest(folder))
    except MemoryError:
        failure = DlprofError(f"{memory_limit.as_clause()}.", hint=f"dlprof report {name_to_type(folder)} --rebuild")
        return Traced(recorded.outcome, None, failure, _rest(folder))
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
