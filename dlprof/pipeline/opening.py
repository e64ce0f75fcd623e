"""Opens stored runs, as every command does that shows one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dlprof import run_names, rundir
from dlprof.errors import NoInputError, UsageError
from dlprof.pipeline import ranked, sound_tables
from dlprof.store.run import Run

if TYPE_CHECKING:
    from dlprof.analysis.compare import Side


def open_run(text: str, *, rebuild: bool = False) -> Run:
    """Open the run that the user names; its tables are made first if they are missing, damaged or old.

    Args:
        text: Path or name of a run folder, or `last`.
        rebuild: Make the tables anew from the raw artifacts.

    Raises:
        NoInputError: There is no such run.
        BadDataError: It is damaged or of a newer dlprof.
        UsageError: Its tables are to be made anew and cannot be; or it is a folder of ranks, each of which is a run.
    """
    folder = run_names.resolve(text)
    ranked.refuse(folder.read_manifest(), text)
    return sound_tables.stored(folder, rebuild=rebuild)


def open_sides(texts: Sequence[str]) -> list[Side]:
    """Open the sides of a comparison: each a run, a folder of repeats, or several of these with commas between.

    Raises:
        NoInputError: There is no such run.
        BadDataError: One is damaged or of a newer dlprof.
        UsageError: One is a run of ranks.
    """
    from dlprof.analysis.compare import Side  # noqa: PLC0415

    groups = [tuple(run for name in text.split(",") for run in _runs(name)) for text in texts]
    labels = [runs[0].manifest.ran_on or runs[0].name for runs in groups]
    if len(set(labels)) < len(labels):
        labels = [runs[0].name if len(runs) == 1 else runs[0].folder.path.parent.name for runs in groups]
    if len(set(labels)) < len(labels):
        labels = [f"{label} ({text})" for label, text in zip(labels, texts, strict=True)]
    return [Side(label, runs) for label, runs in zip(labels, groups, strict=True)]


def _runs(text: str) -> list[Run]:
    for path in (Path(text), Path(rundir.RUNS_FOLDER) / text):
        if text and path.is_dir() and not (path / "manifest.json").is_file():
            repeats = sorted(rundir.find(path), key=lambda run: run.path.name)
            if repeats:
                return [sound_tables.stored(folder) for folder in repeats]
    found = ranked.find(text) if text else None
    if found is not None and found.members:
        own = found.path_of(found.members[0])
        raise UsageError(
            f"{text} holds the ranks of one training, and runs are compared one by one.",
            hint=f"name a rank of each: {text}/{own}",
        )
    if not text:
        raise NoInputError("One of the runs has no name.", hint="dlprof compare RUN,RUN RUN,RUN")
    return [open_run(text)]
