"""Opens runs of ranks: a folder of the ranks of one training, or the run of a program that started them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from dlprof import run_names
from dlprof.errors import DlprofError, NoInputError, UsageError
from dlprof.pipeline import sound_tables
from dlprof.rundir import CHILDREN, RANKS, RunDir
from dlprof.schema.manifest import Manifest, Rank
from dlprof.store.ranked import Member, RankedRun
from dlprof.store.run import Run


class RanksError(UsageError):
    """A folder of ranks was named where one run is wanted."""


def find(text: str) -> RankedRun | None:
    """The run of ranks that the user names; None: it is a run of another kind, or none.

    Args:
        text: As `dlprof.run_names.resolve` takes it.

    Raises:
        NoInputError: There is no such run.
        BadDataError: It is damaged or of a newer dlprof.
    """
    folder = run_names.resolve(text)
    manifest = folder.read_manifest()
    if manifest.ranked is not None:
        found = _Found(folder.path.glob(RANKS))
        return found.together(folder, manifest, None)
    if manifest.followed is None:
        return None
    found = _Found((folder.path / CHILDREN).glob("*"))
    if len(found.chosen) + len(found.lost) < 2 and (found.world or 1) < 2:
        return None
    return found.together(folder, manifest, sound_tables.stored(folder))


def both(texts: Sequence[str]) -> list[tuple[str, RankedRun]] | None:
    """Two runs of ranks that the user names, each with a name of its own; None: at least one of them is none.

    Args:
        texts: What the user typed: two of them, else it is no comparison of ranks.

    Raises:
        NoInputError: There is no such run.
        BadDataError: One is damaged or of a newer dlprof.
    """
    if len(texts) != 2 or not all(texts) or any("," in text for text in texts):
        return None
    with contextlib.suppress(NoInputError):  # a folder of repeats is no run
        found = [find(text) for text in texts]
        ranks = [one for one in found if one is not None and one.members]
        if len(ranks) < len(found):
            return None
        names = [one.name for one in ranks]
        labels = names if len(set(names)) == len(names) else list(texts)
        return list(zip(labels, ranks, strict=True))
    return None


def refuse(manifest: Manifest, typed: str) -> None:
    """Refuse a folder of ranks where one run is wanted.

    Raises:
        RanksError: It is one.
    """
    if manifest.ranked is not None:
        raise RanksError(
            f"{typed} holds the ranks of one training, and this command looks at one run.",
            hint=f"name a rank: {typed}/rank-000; all of them: dlprof report {typed}",
        )


def _ranks_below(folder: RunDir) -> list[RunDir]:
    """Pythons below a program that are ranks."""
    found = []
    for path in sorted((folder.path / CHILDREN).glob("*")):
        with contextlib.suppress(DlprofError):
            if RunDir(path).read_manifest().rank is not None:
                found.append(RunDir(path))
    return found


class _Found:
    """The runs of ranks among some folders: one of each rank, that which began last.

    Args:
        paths: The folders.

    Attributes:
        chosen: Rank to its run, with its tables not looked at yet.
        set_aside: Names of the folders of others.
        lost: Names of folders whose manifest cannot be read, and why not.
        world: How many ranks there are to be; None: none of them tells.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self.chosen: dict[int, tuple[RunDir, Rank]] = {}
        self.set_aside: list[RunDir] = []
        self.lost: dict[str, str] = {}
        self.world: int | None = None
        for path in sorted(paths):
            self._take(RunDir(path))

    def _take(self, folder: RunDir) -> None:
        try:
            manifest = folder.read_manifest()
        except DlprofError as error:
            if folder.manifest_path.exists():
                self.lost[folder.path.name] = error.message
            return
        inner = _ranks_below(folder) if manifest.followed is not None else []
        if inner:  # as of `srun`, with a launcher on each machine
            for one in inner:
                self._take(one)
            return
        rank = manifest.rank
        if rank is None:
            return
        self.world = max(self.world or 0, rank.world or 0) or None
        before = self.chosen.get(rank.rank)
        if before is not None and before[1].attempt > rank.attempt:
            self.set_aside.append(folder)
            return
        if before is not None:
            self.set_aside.append(before[0])
        self.chosen[rank.rank] = folder, rank

    def together(self, folder: RunDir, manifest: Manifest, program: Run | None) -> RankedRun:
        """All of them as one; a rank whose tables cannot be had is lost."""
        members, lost = [], dict(self.lost)
        for rank, (own, _) in sorted(self.chosen.items()):
            try:
                members.append(Member(rank, sound_tables.stored(own)))
            except DlprofError as error:
                lost[own.path.name] = error.message
        return RankedRun(
            folder=folder,
            manifest=manifest,
            members=tuple(members),
            world=self.world or (manifest.ranked.world if manifest.ranked is not None else None),
            set_aside=tuple(one.path.relative_to(folder.path).as_posix() for one in self.set_aside),
            lost=lost,
            program=program,
        )
