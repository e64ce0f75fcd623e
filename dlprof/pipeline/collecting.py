"""Gathers the runs of ranks that lie in several places, of one machine or of many, into one run of ranks.

A rank is copied as a whole beside its place, then gets its name: an end at any moment leaves what was there before,
and the same call again goes on. Folders may be a stranger's: nothing but regular files is copied, none is reached by a
link, and the names that they get here are made of numbers.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from dlprof import rundir, safe_files
from dlprof.errors import BadDataError, CannotCreateError, DlprofError, NoInputError, Report, UsageError
from dlprof.pipeline import rank_folders, remote_folders
from dlprof.rundir import CHILDREN, RANKS, RunDir, writing_into
from dlprof.schema.manifest import Manifest, Rank
from dlprof.schema.vocabulary import RunState
from dlprof.store import lock

_STAGE = ".collect"
"""Folder in the one of all ranks for what comes from elsewhere, until it is looked at."""
_READ = ("raw", "tables")
_APART_NS = 3600 * 10**9
"""Ranks of one training run at one time, as far as the wall clocks of machines agree: to an hour."""
_DEEP = 2
"""Folders in folders that are looked into for runs."""
_CHUNK = 1 << 20


@dataclass
class Collected:
    """What became of the sources.

    Attributes:
        folder: The run of ranks.
        taken: Names of the ranks' folders that were copied now.
        kept: Those that were there already, as they are there now.
        refused: What was not taken, and why.
        world: How many ranks there are to be; None: no rank tells.
        missing: Ranks of which there is no run.
    """

    folder: RunDir
    taken: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    world: int | None = None
    missing: tuple[int, ...] = ()


def collect(sources: Sequence[str], output: Path, report: Report) -> Collected:
    """Gather ranks.

    Args:
        sources: Runs of ranks, folders that hold some, runs of launchers that were followed; here, or elsewhere as
            `dlprof.pipeline.remote_folders` takes them.
        output: The folder of all ranks: a new one, or one that ranks were gathered in before.
        report: Takes a line for the user about each.

    Returns:
        What became of them; one source that cannot be had does not keep the others from being taken.

    Raises:
        CannotCreateError: The output cannot be written, or holds something else.
        NoInputError: No rank was found, and none is there.
    """
    folder = _begun(output)
    try:
        return _collect(sources, folder, report)
    except NoInputError:
        with contextlib.suppress(OSError):  # nothing was gathered, now or before: it would be in the way
            (folder.path / _STAGE).rmdir()
            folder.path.rmdir()
        raise


def _collect(sources: Sequence[str], folder: RunDir, report: Report) -> Collected:
    with lock.held(folder.path, "gathers ranks in", wait_s=0):
        work = _Collecting(Collected(folder), report)
        for source in sources:
            try:
                work.take_all(source)
            except CannotCreateError:
                raise
            except DlprofError as error:
                work.refuse(source, _why(error))
            except OSError as error:
                work.refuse(source, f"it cannot be read: {error.strerror or error}.")
        return work.done()


def _begun(output: Path) -> RunDir:
    """The folder of all ranks."""
    folder = RunDir(output.absolute())
    if (output / "manifest.json").exists() and folder.read_manifest().ranked is None:
        raise CannotCreateError(
            f"{output} is a run, and cannot hold those of ranks.", hint="another folder with -o DIR"
        )
    if not folder.manifest_path.exists() and rundir.holds_something(output) and not (output / _STAGE).is_dir():
        raise CannotCreateError(f"The output folder {output} exists and is not empty.", hint="another with -o DIR")
    with writing_into(output):
        output.parent.mkdir(parents=True, exist_ok=True)
        rundir.make_private(output)
        rundir.make_private(output / _STAGE)
    return folder


class _Collecting:
    """Takes one source after another.

    Args:
        told: What became of them so far.
        report: Takes a line for the user.
    """

    def __init__(self, told: Collected, report: Report) -> None:
        self._told = told
        self._report = report
        self._there = {path.name: _manifest(path) for path in sorted(told.folder.path.glob(RANKS))}

    def refuse(self, what: str, why: str) -> None:
        """Note that something is not taken."""
        self._told.refused[what] = why
        self._report(f"{what}: not taken: {why}")

    def take_all(self, source: str) -> None:
        """Take every rank of a source."""
        if not remote_folders.is_elsewhere(source):
            self._take_below(Path(source.removeprefix(remote_folders.HERE)), source)
            return
        stage = self._told.folder.path / _STAGE / hashlib.sha256(source.encode()).hexdigest()[:16]
        self._report(f"{source}: fetching")
        remote_folders.fetch(source, stage)
        self._take_below(stage, source)
        safe_files.remove(stage)

    def _take_below(self, path: Path, source: str) -> None:
        found = list(_ranks(path, source, _DEEP))
        if not found:
            raise NoInputError(f"There is no run of a rank in {source}.")
        for name, folder in found:
            try:
                if folder is None:
                    raise BadDataError("It is a link, and may lead anywhere: name what it leads to.")
                self._take(folder, name)
            except CannotCreateError:
                raise
            except DlprofError as error:
                self.refuse(name, _why(error))

    def _take(self, source: RunDir, told: str) -> None:
        manifest = source.read_manifest()
        rank = manifest.rank
        if rank is None:
            raise UsageError(f"{told} is the run of one process, and no rank of several.")
        name = rank_folders.name_of(rank)
        self._refuse_other(manifest, rank)
        before = self._there.get(name)
        if before == manifest and (manifest.state != RunState.RUNNING or self._is_as_large(source, name)):
            self._told.kept.append(name)
            self._report(f"{told}: {name} is there already")
            return
        if before is not None and not _same(before, manifest):
            raise UsageError(f"{name} is there already, of another process than that of {told}.")
        size = self._copied(source, name)
        self._there[name] = manifest
        self._told.taken.append(name)
        state = ", as it was while it went on" if manifest.state == RunState.RUNNING else ""
        self._report(f"{told}: {name} of {manifest.machine.host}, {size / 1e6:.1f} MB{state}")

    def _is_as_large(self, source: RunDir, name: str) -> bool:
        """Whether a rank whose end nobody saw left nothing more since it was copied."""
        return safe_files.size(source.raw) == safe_files.size(self._told.folder.path / name / "raw")

    def _refuse_other(self, manifest: Manifest, rank: Rank) -> None:
        """Refuse the rank of another training than those that are there.

        Raises:
            UsageError: It is one.
        """
        for name, other in self._there.items():
            if other is None or other.rank is None:
                continue
            if None not in (rank.world, other.rank.world) and rank.world != other.rank.world:
                text = f"it is one of {rank.world} ranks, and {name}, which is there, of {other.rank.world}"
                raise UsageError(f"It is of another training: {text}.", hint="-o another folder")
            if _apart_ns(manifest, other) > _APART_NS:
                raise UsageError(
                    f"It is of another training: it ran at another time than {name}, which is there.",
                    hint="-o another folder",
                )

    def _copied(self, source: RunDir, name: str) -> int:
        """Copy a rank's run beside its place, and exchange the two; its size in bytes."""
        source.refuse_strange()
        folder = self._told.folder.path
        part = folder / f".{name}.part"
        safe_files.remove(part)
        with writing_into(folder):
            rundir.make_private(part)
            rundir.make_private(part / "raw")
        for file in ("manifest.json", *_files(source)):
            _copy(source, part, file)
        with writing_into(folder):
            old = folder / f".{name}.old"
            safe_files.remove(old)
            if (folder / name).exists():
                (folder / name).rename(old)
            part.rename(folder / name)
            safe_files.remove(old)
        return safe_files.size(folder / name)

    def done(self) -> Collected:
        """What became of all; the folder says what it is.

        Raises:
            NoInputError: There is no rank in it.
        """
        told, there = self._told, {name: one for name, one in self._there.items() if one is not None and one.rank}
        if not there:
            why = next(iter(told.refused.values()), "")
            raise NoInputError(f"No rank was gathered. {why}".strip())
        first = min(there.values(), key=lambda one: one.rank.rank if one.rank else 0)
        worlds = [one.rank.world for one in there.values() if one.rank and one.rank.world]
        told.world = max(worlds, default=None)
        ranks = {one.rank.rank for one in there.values() if one.rank}
        told.missing = tuple(rank for rank in range(told.world or 0) if rank not in ranks)
        shared = rank_folders.shared_manifest(first, told.world)
        told.folder.write_manifest(replace(shared, state=RunState.FINISHED))
        if not told.refused:
            shutil.rmtree(told.folder.path / _STAGE, ignore_errors=True)
        return told


def _why(error: DlprofError) -> str:
    """What an error says, with what to try."""
    return error.message + (f" ({error.hint})" if error.hint else "")


def _ranks(path: Path, told: str, deep: int) -> Iterator[tuple[str, RunDir | None]]:
    """Runs of ranks in a folder, each with what the user knows it by; None: it is a link, and not looked into."""
    if not path.is_dir():
        raise NoInputError(f"There is no folder {told}.")
    if safe_files.is_file(path, "manifest.json"):
        folder = RunDir(path.absolute())
        manifest = folder.read_manifest()
        if manifest.ranked is None and manifest.followed is None:
            yield told, folder
            return
        inner = path.glob(RANKS) if manifest.ranked is not None else (path / CHILDREN).glob("*")
        below = [one for one in sorted(inner) if _is_ranked(one)]
    else:
        below = [one for one in sorted(path.iterdir()) if deep and not one.name.startswith(".")]
    for one in below:
        name = f"{told.rstrip('/')}/{one.relative_to(path).as_posix()}"
        if one.is_symlink():
            yield name, None
        elif one.is_dir() and one.name.startswith("rank-") and not _is_launcher(one):
            yield name, RunDir(one.absolute())  # also where its manifest is none: that is said of it then
        elif one.is_dir():
            yield from _ranks(one, name, deep - 1)


def _is_ranked(path: Path) -> bool:
    """Whether a folder of a launcher's is one of a rank, or of a launcher below it."""
    manifest = _manifest(path)
    return manifest is None or manifest.rank is not None or manifest.followed is not None


def _is_launcher(path: Path) -> bool:
    """Whether a folder is the run of a launcher: ranks are below it."""
    manifest = _manifest(path)
    return manifest is not None and manifest.followed is not None


def _manifest(path: Path) -> Manifest | None:
    try:
        return RunDir(path).read_manifest()
    except DlprofError:
        return None


def _same(one: Manifest, other: Manifest) -> bool:
    """Whether two manifests are of one process."""
    return (
        all(getattr(one, part) == getattr(other, part) for part in ("created", "machine", "command"))
        and one.clock.origin_perf_ns == other.clock.origin_perf_ns
    )


def _apart_ns(one: Manifest, other: Manifest) -> int:
    """Time between the end of one run and the beginning of the other, by wall clocks (ns); 0: not known, or none."""
    spans = []
    for manifest in (one, other):
        begin = manifest.clock.origin_wall_ns
        if begin is None:
            return 0
        spans.append((begin, begin + (manifest.process.wall_ns or 0)))
    return max(0, max(begin for begin, _ in spans) - min(end for _, end in spans))


def _files(source: RunDir) -> Iterator[str]:
    """Names of the files that are copied besides the manifest, from the run's folder on."""
    for top in _READ:
        for place, _, files in os.walk(source.path / top):  # not into links
            for name in sorted(files):
                yield os.path.relpath(os.path.join(place, name), source.path)  # noqa: PTH118


def _copy(source: RunDir, part: Path, name: str) -> None:
    try:
        content = safe_files.opened(source.path, name)
    except OSError as error:
        raise BadDataError(f"{source.place} cannot be read: {error}.") from error
    target = part / name
    with content, writing_into(part):
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as out:
            shutil.copyfileobj(content, out, _CHUNK)
