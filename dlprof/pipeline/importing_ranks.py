"""Makes a run of ranks of a folder of foreign traces, one of each rank.

A rank whose trace cannot be read does not keep the others from being there.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from msgspec import structs

from dlprof import rundir
from dlprof.errors import BadDataError, NoInputError, Report
from dlprof.ingest.formats import xspace_json
from dlprof.pipeline import importing, rank_cycles, rank_folders
from dlprof.pipeline.importing_here import Here
from dlprof.pipeline.importing_rank import Made
from dlprof.pipeline.rank_cycles import Candidate
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Rank

_BY_TRACE, _BY_NAME = "trace", "file name"
_NAMED = re.compile(r"rank[-_ ]?(\d{1,6})(?!\d)", re.IGNORECASE)
_BELOW = ("plugins/profile/*/*.xplane.pb", "*/plugins/profile/*/*.xplane.pb", "*/*.pt.trace.json*")
_CYCLE = re.compile(r"\.pt\.trace\.json(\.gz)?$")
"""What the handler of PyTorch's profiler calls the file of each cycle."""
_UNRANKED = "neither the trace nor the name of its file tells a rank"
_MOST = 1 << 15
"""Ranks that the tables can hold."""


@dataclass
class ImportedRanks:
    """What became of the files of a folder.

    Attributes:
        folder: The run of ranks.
        ranks: Rank to the name of its file.
        refused: Names of the files that no rank was made of, and why.
        passed_over: Names of the files that are no traces.
    """

    folder: RunDir
    ranks: dict[int, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    passed_over: list[str] = field(default_factory=list)


class Reads(Protocol):
    """Who reads traces."""

    def read(self, places: Sequence[tuple[Path, Path]], reader: str | None) -> Iterator[tuple[int, Made]]:
        """Read each trace into its place, in any order; gives the number of one, and what was made of it."""


def import_folder(
    folder: Path, output: Path | None, *, reader: str | None, report: Report, by: Reads | None = None
) -> ImportedRanks:
    """Read the traces of all ranks.

    Args:
        folder: Where they lie, one file of each rank.
        output: The folder of the run of ranks; None: a new one below `dlprof_runs/`.
        reader: Name of the format of all files; None: told from their content.
        report: Takes a line for the user about each.
        by: Who reads them; None: processes, as many at a time as there are cores.

    Raises:
        NoInputError: There is no trace in it.
        BadDataError: No rank could be read.
        CannotCreateError: The output cannot be written, or holds something.
        UsageError: So many processes make no sense.
        UnavailableError: They cannot be read in that way.
    """
    by = by or Here()
    files = [path for path in sorted(folder.iterdir()) if not path.name.startswith(".") and path.is_file()]
    if not files:
        raise _no_trace(folder)
    if output is not None:
        rundir.refuse_full(output)
    now = datetime.now().astimezone()
    wanted = output or rundir.free_path(folder.resolve().name or "ranks", now)
    with importing.part_of(wanted) as part:
        shutil.rmtree(part / "raw")
        made = ImportedRanks(RunDir(part))
        work = _Import(made, report)
        work.read(by, files, reader)
        if len(made.passed_over) == len(files):
            raise _no_trace(folder)
        work.finish()
        made.folder = importing.named_folder(part, wanted, chosen=output is not None)
    return made


def only_trace(folder: Path) -> Path | None:
    """The one trace below a folder of logs that holds no file itself; None: there are several, or it is no such folder.

    As TensorBoard's are: `logs/plugins/profile/TIME/HOST.xplane.pb`.
    """
    if any(path.is_file() for path in folder.iterdir()):
        return None
    found = _traces_below(folder)
    return found[0] if len(found) == 1 else None


def _no_trace(folder: Path) -> NoInputError:
    below = _trace_below(folder)
    if below is not None:
        return NoInputError(
            f"There is no trace in {folder} itself; folders below are not searched.",
            hint=f"below lies {below}: dlprof import {shlex.quote(str(below))}",
        )
    return NoInputError(f"There is no trace in {folder}.", hint="dlprof import --list names the formats")


def _trace_below(folder: Path) -> Path | None:
    """A trace as profilers put them below a folder of logs (`plugins/profile/TIME/`): the last one."""
    return max(_traces_below(folder), key=lambda path: path.parent.name, default=None)


def _traces_below(folder: Path) -> list[Path]:
    return [path for pattern in _BELOW for path in folder.glob(pattern) if path.is_file()]


class _Import:
    """Reads the files.

    Args:
        made: What became of them so far.
        report: Takes a line for the user.
    """

    def __init__(self, made: ImportedRanks, report: Report) -> None:
        self._made = made
        self._report = report
        self._worlds: list[int] = []
        self._done = self._files = 0
        self._source = Path()
        self._read: list[Candidate] = []
        self._paths: dict[int, Path] = {}
        self._ranks: dict[int, Rank] = {}

    def read(self, by: Reads, files: Sequence[Path], reader: str | None) -> None:
        """Have all of them read."""
        self._files = len(files)
        self._source = files[0].parent
        # The largest first, so that none of them is begun when all others are over.
        numbered = sorted(enumerate(files), key=lambda one: -one[1].stat().st_size)
        places = [(path, self._place(number)) for number, path in numbered]
        for index, made in by.read(places, reader):
            number, path = numbered[index]
            self._take(path, number, made)

    def _place(self, number: int) -> Path:
        return self._made.folder.path / f".file-{number:05d}"

    def _take(self, path: Path, number: int, told: Made) -> None:
        self._done += 1
        of = self._files
        if not told.is_trace:
            self._made.passed_over.append(path.name)
            return
        rank = _rank_of(path, told.facts)
        if told.error is not None or rank is None:
            self._refuse(path, number, told.error or _UNRANKED)
            return
        manifest = RunDir(self._place(number)).read_manifest()
        self._read.append(Candidate(number, rank.rank, manifest.clock.origin_wall_ns, manifest.process.wall_ns or 0))
        self._paths[number], self._ranks[number] = path, rank
        if of <= 16 or self._done % 16 == 0 or self._done == of:  # a line for each of a thousand tells nobody anything
            self._report(f"{self._done}/{of} {path.name}")

    def _refuse(self, path: Path, number: int, why: str) -> None:
        shutil.rmtree(self._place(number), ignore_errors=True)
        self._made.refused[path.name] = why
        self._report(f"{path.name}: not taken: {why}")

    def _place_all(self) -> None:
        """Give one run of each rank its place: of a rank's several that which goes with those of the others."""
        chosen = rank_cycles.chosen(self._read)
        names = {one.rank: self._paths[one.number].name for one in chosen.values()}
        for one in sorted(self._read, key=lambda other: other.number):
            if chosen[one.rank] is not one:
                why = f"rank {one.rank} is there already, of {names[one.rank]}"
                self._refuse(self._paths[one.number], one.number, why)
                continue
            place, rank = self._place(one.number), self._ranks[one.number]
            folder = RunDir(place)
            folder.write_manifest(structs.replace(folder.read_manifest(), rank=rank))
            place.rename(place.parent / rank_folders.name_of(rank))
            self._made.ranks[one.rank] = names[one.rank]
            if rank.world:
                self._worlds.append(rank.world)
        if (said := rank_cycles.doubt(self._read, chosen)) is not None:
            self._report(said)

    def finish(self) -> None:
        """Say what the folder is.

        Raises:
            BadDataError: There is no rank in it.
        """
        self._place_all()
        made = self._made
        made.passed_over.sort()
        if not made.ranks:
            file, why = next(iter(made.refused.items()))
            raise BadDataError(f"No rank could be read. {file}: {why}.", hint=self._other_way())
        first = made.folder.path / f"rank-{min(made.ranks):03d}"
        world = max(self._worlds, default=None)
        made.folder.write_manifest(rank_folders.shared_manifest(RunDir(first).read_manifest(), world))

    def _other_way(self) -> str | None:
        """How to import what has no ranks; None: something else is wrong with a file."""
        if set(self._made.refused.values()) != {_UNRANKED}:
            return None
        if all(_CYCLE.search(name) for name in self._made.refused):
            return f"cycles of one process: dlprof import {shlex.quote(str(self._source))}/*, without the folder itself"
        files = [self._source / name for name in self._made.refused]
        # Profilers write one profile in several formats: together they would count it as often.
        told = [path for path in files if xspace_json.repeated(path, files) is None]
        return f"the trace of one process: dlprof import {shlex.quote(str(told[0]))}" if len(told) == 1 else None


def _rank_of(path: Path, facts: dict[str, Any]) -> Rank | None:
    rank, world = facts.get("rank"), facts.get("world_size")
    known = type(world) is int and 0 < world <= _MOST
    if type(rank) is int and 0 <= rank < _MOST:
        return Rank(rank=rank, world=world if known else None, by=_BY_TRACE)
    numbers = list(_numbers(path.name))
    if len(numbers) == 1 and numbers[0] < _MOST:
        return Rank(rank=numbers[0], world=world if known else None, by=_BY_NAME)
    return None


def _numbers(name: str) -> Iterator[int]:
    return (int(found[1]) for found in _NAMED.finditer(name))
