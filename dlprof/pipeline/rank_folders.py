"""Folders of a run of ranks, where each rank is a dlprof of its own: each has one, below one that they share."""

from __future__ import annotations

import contextlib
import os
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from dlprof import rundir
from dlprof.errors import CannotCreateError, DlprofError
from dlprof.rundir import RANKS, RunDir
from dlprof.schema import manifest as manifests
from dlprof.schema.manifest import Manifest, Rank, Ranked
from dlprof.schema.vocabulary import RunState

_TOLD = ".told"
"""Who makes this file, with the restart behind its name, prints the report of all ranks."""


def create(output: Path | None, name: str, rank: Rank, now: datetime) -> RunDir:
    """Make the empty run folder of a rank.

    Args:
        output: The folder of all ranks, where the user wants it; None: one below `dlprof_runs/`.
        name: Part of its name in that case.
        rank: Whose run it is.
        now: Local time.

    Raises:
        CannotCreateError: The folder holds a run, or that rank's; or it cannot be made.
    """
    shared = output or _shared(name)
    if (shared / "manifest.json").exists() and RunDir(shared).read_manifest().ranked is None:
        raise CannotCreateError(
            f"{shared} is a run, and cannot hold those of ranks.", hint="choose another folder with -o DIR"
        )
    with rundir.writing_into(shared):
        shared.parent.mkdir(parents=True, exist_ok=True)
        rundir.make_private(shared)
    return rundir.create(shared / name_of(rank), name, now)


def name_of(rank: Rank) -> str:
    """Name of the folder of a rank's run."""
    return f"rank-{rank.rank:03d}{_again(rank)}"


def _again(rank: Rank) -> str:
    """What the names of folders end in after a restart."""
    return f"-restart-{rank.attempt}" if rank.attempt else ""


def _shared(name: str) -> Path:
    """The folder below `dlprof_runs/` that all processes of this launcher come to by themselves."""
    launcher = os.getppid()
    try:
        began = datetime.fromtimestamp(rundir.process_start(launcher)).astimezone()
    except (OSError, ValueError, IndexError):
        began = datetime.fromtimestamp(0).astimezone()
    return Path(rundir.RUNS_FOLDER) / f"{began:%Y%m%d-%H%M%S}-{name}-ranks-{launcher}"


def found(own: Manifest, folder: RunDir) -> None:
    """Leave a manifest in the folder of all ranks, which says what it is; the first rank that comes does.

    Args:
        own: The first manifest of the run of a rank.
        folder: The folder of that run.

    Raises:
        CannotCreateError: It cannot be written.
    """
    shared = RunDir(folder.path.parent)
    if own.rank is None or shared.manifest_path.exists():
        return
    shared.write_manifest(shared_manifest(own, own.rank.world))


def shared_manifest(own: Manifest, world: int | None) -> Manifest:
    """The manifest of a folder of ranks.

    Args:
        own: That of one of them.
        world: How many there are to be; None: not told.
    """
    return replace(
        own,
        conductor=None,
        clock=manifests.Clock(),
        probes=(),
        rank=None,
        ranked=Ranked(world=world),
        followed=None,
        seal=None,
    )


def is_last(folder: RunDir, rank: Rank) -> bool:
    """Whether all ranks are stored by now, and nobody else has said so.

    Args:
        folder: The run folder of a rank.
        rank: That rank.
    """
    shared = RunDir(folder.path.parent)
    own = (path for path in shared.path.glob(RANKS) if path.name.endswith(_again(rank)))
    stored = sum(_is_stored(RunDir(path)) for path in own)
    if rank.world is None or stored < rank.world:
        return False
    with contextlib.suppress(OSError, DlprofError):
        os.close(os.open(shared.path / f"{_TOLD}{_again(rank)}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        shared.write_manifest(replace(shared.read_manifest(), state=RunState.FINISHED))
        return True
    return False


def _is_stored(folder: RunDir) -> bool:
    from dlprof.schema.tables import SCHEMA_VERSION  # noqa: PLC0415  (large: not before the script has run)

    try:
        manifest = folder.read_manifest()
    except DlprofError:
        return False
    return manifest.state != RunState.RUNNING and manifest.tables_version == SCHEMA_VERSION
