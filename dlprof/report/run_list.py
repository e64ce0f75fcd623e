"""The runs of a folder, as lines of a terminal or as JSON (`dlprof.runs/1`)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from dlprof.errors import DlprofError
from dlprof.report import end_words
from dlprof.rundir import RunDir
from dlprof.units import duration, safe, size

SCHEMA = "dlprof.runs/1"


class StoredRun(Struct, frozen=True):
    """A run, as its manifest has it; None: not known."""

    run: str
    created: str
    script: str | None
    """What was run; None for a run of foreign traces."""
    backend: str | None
    state: str
    exit_code: int | None
    signal: int | None
    wall_ns: int | None
    size_bytes: int
    engine: str | None = None
    """The engine that was loaded; None: none that dlprof knows."""

    @property
    def ran_on(self) -> str | None:
        """The backend, or without Keras the engine, as the first line of the report has it."""
        return self.backend or self.engine


class DamagedRun(Struct, frozen=True):
    """A run whose manifest cannot be read, and why not."""

    run: str
    damaged: str


class RunList(Struct, frozen=True, kw_only=True):
    """All runs of a folder."""

    schema: str = SCHEMA
    runs: tuple[StoredRun | DamagedRun, ...]


def list_runs(folders: Sequence[RunDir]) -> RunList:
    """The runs in these folders, in their order."""
    return RunList(runs=tuple(_row(folder) for folder in folders))


def _row(folder: RunDir) -> StoredRun | DamagedRun:
    try:
        return _stored(folder)
    except DlprofError as error:
        return DamagedRun(folder.path.name, error.message)
    except OSError as error:  # its files, or its folder, went meanwhile or are not ours to read
        return DamagedRun(folder.path.name, f"it cannot be read: {error.strerror or error}")


def _stored(folder: RunDir) -> StoredRun:
    manifest = folder.read_manifest()
    process = manifest.process
    return StoredRun(
        run=folder.path.name,
        created=manifest.created,
        script=manifest.command.text,
        backend=manifest.asked_or_told,
        state=manifest.state,
        exit_code=process.exit_code,
        signal=process.signal,
        wall_ns=process.wall_ns,
        size_bytes=folder.size_bytes(),
        engine=manifest.engine.name if manifest.engine is not None else None,
    )


def as_line(row: StoredRun | DamagedRun) -> str:
    """A run as one line: name, backend or engine, script, how it ended, wall time, size."""
    if isinstance(row, DamagedRun):
        return f"{row.run:<40} damaged: {safe(row.damaged)}"
    return (
        f"{row.run:<40} {row.ran_on or '-':<12} {safe(row.script or '-'):<24} {_ended(row):<11} "
        f"{duration(row.wall_ns):>9} {size(row.size_bytes):>8}"
    )


def _ended(row: StoredRun) -> str:
    if row.wall_ns is None:
        return row.state
    return end_words.in_short(row.signal) if row.signal else f"exit {row.exit_code}"
