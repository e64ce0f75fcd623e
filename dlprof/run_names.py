"""Which run a user means by a word, and what a user types for a run."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from dlprof.errors import NoInputError, nearest
from dlprof.rundir import RUNS_FOLDER, RunDir, find, has_manifest, last_written

_LAST = re.compile(r"last(?:~(\d{1,6}))?")
_LEVELS, _LOOKED_AT, _ENTRIES = 3, 2000, 20_000
"""So many levels of folders, folders of a level, and entries of a folder are looked at for runs in what is no run."""
_NAMED = 5
"""Of the runs that are found there."""
_NEAR = 3
"""Runs that are suggested for a name that is none."""


def resolve(text: str) -> RunDir:
    """The run that the user means: a path, the name of a run below `dlprof_runs/`, `last`, or `last~N`, N before it.

    What follows a slash after these lies in that run's folder: `last/children/001-train`.

    Raises:
        NoInputError: There is no such run; the nearest name is suggested.
    """
    first, slash, rest = text.partition("/")
    before = _LAST.fullmatch(first)
    if before and slash and not Path(text).exists():
        return resolve(str(_from_the_end(int(before[1] or 0)).path / rest))
    if before and not slash:
        return _from_the_end(int(before[1] or 0))
    for path in _places(text):
        if (path / "manifest.json").is_file():
            return RunDir(path.absolute())
    if Path(text).exists():
        raise _no_run_itself(Path(text))
    if (Path(RUNS_FOLDER) / text).is_dir():  # as that of repeats
        raise _no_run_itself(Path(RUNS_FOLDER) / text)
    raise NoInputError(f"There is no run {text}.", hint="dlprof runs", near=_near(text))


def _near(text: str) -> list[str]:
    """Runs that a name may have meant: the newest that have it as a word, else that which is spelt most like it."""
    wanted = re.compile(rf"(^|[-_.]){re.escape(text)}($|[-_.])", re.IGNORECASE)
    named = [path for path in _folders(Path(RUNS_FOLDER)) if wanted.search(path.name)]
    newest = sorted(named, key=lambda path: (last_written(path / "manifest.json"), path.name), reverse=True)
    return [path.name for path in newest[:_NEAR]] or nearest(text, _names(text))


def _no_run_itself(path: Path) -> NoInputError:
    """What is said of a file or a folder that is no run: of a folder also which runs it holds."""
    runs = _newest_below(path)
    if not runs:
        return NoInputError(f"{path} is not a run folder: it has no manifest.json.", hint="dlprof runs")
    names = ", ".join(run.relative_to(path).as_posix() for run in runs[:_NAMED])
    more = f" and {len(runs) - _NAMED} more" if len(runs) > _NAMED else ""
    held = f"{len(runs)} runs, the newest first" if len(runs) > 1 else "one run"
    return NoInputError(
        f"{path} is not a run folder, but holds {held}: {names}{more}.",
        hint=f"name one of them: dlprof report {shlex.quote(str(runs[0]))}",
    )


def _newest_below(folder: Path) -> list[Path]:
    """Run folders in a folder, and a few levels below it; what lies in a run is part of that."""
    found: list[Path] = []
    level = [folder]
    for _ in range(_LEVELS):
        inner = list(islice((path for one in level for path in _inner(one)), _LOOKED_AT))
        found += (path for path in inner if has_manifest(path))
        level = [path for path in inner if not has_manifest(path)]
    return sorted(found, key=lambda path: (last_written(path / "manifest.json"), path.name), reverse=True)


def _inner(folder: Path) -> list[Path]:
    with (
        contextlib.suppress(OSError),
        os.scandir(folder) as entries,
    ):  # a file, or a folder that is not ours to look into
        return sorted(Path(entry.path) for entry in islice(entries, _ENTRIES) if entry.is_dir())
    return []


@dataclass(frozen=True)
class Elsewhere:
    """A folder that holds runs, where none were found."""

    folder: Path
    count: int

    @property
    def said(self) -> str:
        """It, in a clause."""
        return f"{'this folder' if self.folder == Path() else f'{self.folder}/'} holds {self.count}"

    @property
    def hint(self) -> str:
        """What lists them."""
        return f"dlprof runs {shlex.quote(str(self.folder))}"


def elsewhere(folder: Path) -> Elsewhere | None:
    """The folder of most runs, in a folder and a few levels below it; hidden ones are not looked at."""
    found = Counter(
        run.parent
        for run in _newest_below(folder)
        if not any(part.startswith(".") for part in run.relative_to(folder).parts)
        and ((run / "raw").is_dir() or (run / "tables").is_dir())  # others, too, call a file manifest.json
    )
    return next((Elsewhere(*most) for most in found.most_common(1)), None)


def is_run(text: str) -> bool:
    """Whether this is the path or the name of a run, or of one below the last."""
    if _LAST.fullmatch(text.partition("/")[0]) and "/" in text:
        return True
    return any((path / "manifest.json").is_file() for path in _places(text))


def _places(text: str) -> tuple[Path, Path]:
    return Path(text), Path(RUNS_FOLDER) / text


def _from_the_end(number: int) -> RunDir:
    """The last run here, or one of those before it."""
    runs = find(Path(RUNS_FOLDER))
    if not runs:
        other = elsewhere(Path())
        if other:
            raise NoInputError(f"There is no run below {RUNS_FOLDER}/ here, but {other.said}.", hint=other.hint)
        raise NoInputError(f"There is no run below {RUNS_FOLDER}/ here.", hint="dlprof trace SCRIPT, or dlprof demo")
    if number >= len(runs):
        count = "is only one run" if len(runs) == 1 else f"are only {len(runs)} runs"
        raise NoInputError(f"There {count} below {RUNS_FOLDER}/ here: no last~{number}.", hint="dlprof runs")
    return runs[-1 - number]


def _names(text: str) -> list[str]:
    """What a misspelt run may have meant: runs and folders of repeats below `dlprof_runs/`, and beside its path."""
    beside = Path(text).parent
    near = [str(path) for path in _folders(beside)] if beside != Path() else []
    return ["last", *near, *(path.name for path in _folders(Path(RUNS_FOLDER)))]


def _folders(folder: Path) -> list[Path]:
    """Runs in a folder, and folders that hold some."""
    if not folder.is_dir():
        return []
    patterns = ("manifest.json", "*/manifest.json")
    with contextlib.suppress(OSError):
        return [path for path in sorted(folder.iterdir()) if any(any(path.glob(pattern)) for pattern in patterns)]
    return []


def name_to_type(run: RunDir) -> str:
    """What a user types for a run: `last`, its name below `dlprof_runs/`, else its path, quoted for a shell."""
    below = Path(RUNS_FOLDER).absolute()
    path = run.place.absolute()
    if path.parent == below:
        return "last" if find(below)[-1].path == path else shlex.quote(path.name)
    return shlex.quote(short_path(run))


def short_path(run: RunDir) -> str:
    """Where the user has a run: its path, from the current folder on where that is shorter."""
    path = str(run.place.absolute())
    return min(os.path.relpath(path), path, key=len)
