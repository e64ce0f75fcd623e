"""All runs of a folder, each with what its stored tables tell cheaply: no run is diagnosed, none is read anew."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from msgspec import Struct, structs

from dlprof import rundir
from dlprof.analysis import steps
from dlprof.errors import DlprofError
from dlprof.report import run_list, step_words
from dlprof.report.run_list import DamagedRun, StoredRun
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Manifest
from dlprof.schema.tables import SCHEMA_VERSION
from dlprof.schema.vocabulary import Loop, RunState
from dlprof.store import condition
from dlprof.store.run import Run

WITHIN_S = 5.0
"""Tables of runs are read for so long, those of the newest runs first; what is not reached then is said."""
_ROWS_AT_MOST = 200_000
"""Runs with more steps or kernels are not read here: one of them may take as long as all others."""
_READERS = 4


class Figures(Struct, frozen=True):
    """What the tables of a run tell; None: not known."""

    step_ns: int | None = None
    """A train step, as reports have it."""
    how: str = ""
    """How that was got, in words."""
    samples_per_s: float | None = None
    most_phase: str | None = None
    """The leaf phase that took most."""
    most_share: float | None = None
    """Its share of the wall time."""
    unknown: str = ""
    """Why there are no figures, or not all; empty: nothing stands against them."""


class IndexedRun(Struct, frozen=True):
    """A run of the folder."""

    listed: StoredRun
    arguments: tuple[str, ...]
    figures: Figures


class RunIndex(Struct, frozen=True):
    """A folder's runs, the newest first, and those whose manifest cannot be read."""

    folder: str
    runs: tuple[IndexedRun, ...]
    damaged: tuple[DamagedRun, ...]


def of_folder(folder: Path, *, within_s: float = WITHIN_S) -> RunIndex:
    """The runs in a folder, and in folders of repeats in it.

    Args:
        folder: The folder.
        within_s: How long tables may be read.
    """
    until = time.monotonic() + within_s
    found = list(reversed(find(folder)))
    with ThreadPoolExecutor(_READERS) as pool:
        rows = list(pool.map(lambda run: _indexed(run, folder, until), found))
    return RunIndex(
        str(folder),
        tuple(row for row in rows if isinstance(row, IndexedRun)),
        tuple(row for row in rows if isinstance(row, DamagedRun)),
    )


def find(folder: Path) -> list[RunDir]:
    """Run folders in a folder, and one level below it in what is no run itself; oldest first."""
    found = rundir.find(folder)
    names = {run.path.name for run in found}
    for inner in sorted(folder.iterdir()):
        if inner.is_dir() and inner.name not in names:
            found.extend(rundir.find(inner))
    return sorted(found, key=lambda run: (run.manifest_path.stat().st_mtime_ns, run.path.name))


def name_in(folder: Path, run: RunDir) -> str:
    """The name of a run in the index: its path from the folder."""
    return run.path.relative_to(folder.absolute()).as_posix()


def _indexed(run: RunDir, folder: Path, until: float) -> IndexedRun | DamagedRun:
    name = name_in(folder, run)
    try:
        listed = run_list.list_runs([run]).runs[0]
        manifest = run.read_manifest()
    except (DlprofError, OSError) as error:
        return DamagedRun(name, str(error))
    if isinstance(listed, DamagedRun):
        return DamagedRun(name, listed.damaged)
    late = time.monotonic() > until
    figures = Figures(unknown="not read here, because there are many runs") if late else _figures(run, manifest)
    return IndexedRun(structs.replace(listed, run=name), tuple(manifest.command.argv), figures)


def _figures(folder: RunDir, manifest: Manifest) -> Figures:
    if rundir.goes_on(manifest):
        return Figures(unknown="it goes on")
    found = condition.examine(folder.tables)
    if found.state == condition.State.DAMAGED:
        return Figures(unknown=f"its tables are damaged: dlprof report {folder.path.name}")
    if manifest.state != RunState.IMPORTED and (not found.readable or manifest.tables_version < SCHEMA_VERSION):
        return Figures(unknown=f"its tables are to be made first: dlprof report {folder.path.name}")
    run = Run(folder, manifest)
    try:
        if max(run.count("steps"), run.count("kernel_events")) > _ROWS_AT_MOST:
            return Figures(unknown=f"not read here, because it is large: dlprof report {run.name}")
        return _read(run)
    except Exception as error:  # noqa: BLE001  (a run with damaged tables must not cost the user the others)
        return Figures(unknown=f"its tables cannot be read: {error}")


def _read(run: Run) -> Figures:
    phase, share = _most(run)
    loop = next((one for one in steps.of_run(run) if one.loop == Loop.TRAIN), None)
    if loop is None or loop.median_ns is None:
        why = loop.unknown if loop is not None else None
        return Figures(most_phase=phase, most_share=share, unknown=why or "no steps of a training were seen")
    return Figures(loop.median_ns, step_words.how(loop), loop.samples_per_s, phase, share)


def _most(run: Run) -> tuple[str | None, float | None]:
    """The leaf phase that took most, and its share of the wall time."""
    table = run.table("phases", ["phase", "parent", "dur_ns"]).to_pydict()
    parents, wall = set(table["parent"]), run.wall_ns
    leaves = [(ns, name) for name, ns in zip(table["phase"], table["dur_ns"], strict=True) if name not in parents]
    if not leaves:
        return None, None
    ns, name = max(leaves)
    return name, ns / wall if wall else None


def finished(runs: Sequence[IndexedRun]) -> list[IndexedRun]:
    """Those that ended well, or are imported: what a trend may be drawn of."""
    return [run for run in runs if _ended_well(run.listed)]


def _ended_well(run: StoredRun) -> bool:
    if run.state == RunState.IMPORTED:
        return True
    return run.state == RunState.FINISHED and not run.exit_code and not run.signal
