"""Makes a run folder of foreign traces: joins readers, attribution and store."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from dlprof import rundir
from dlprof.errors import Report, UsageError, nearest
from dlprof.ingest.artifact import MALFORMED, ArtifactError, told
from dlprof.ingest.formats import registry as formats
from dlprof.ingest.formats import strays, xspace_json
from dlprof.ingest.formats.base import FileContent, Reader
from dlprof.ingest.limits import Limits, applied
from dlprof.pipeline.imported_files import ImportedFiles
from dlprof.rundir import RunDir, writing_into
from dlprof.store.run import Run


def import_files(
    paths: Sequence[Path],
    output: Path | None,
    *,
    reader: str | None,
    report: Report,
    columns: Sequence[str] = (),
    limits: Limits | None = None,
) -> Run:
    """Read foreign traces into a new run folder, on one timeline.

    The folder appears when all is done: nothing of it is left when a file cannot be read.

    Args:
        paths: The files.
        output: The run folder; None: a new one below `dlprof_runs/`.
        reader: Name of the format of all files; None: told from their content.
        report: Takes a line for the user about each file.
        columns: Names of the columns of tables that do not name them.
        limits: What reading may take of the machine; None: a quarter of its memory.

    Raises:
        NoInputError: A file does not exist.
        ArtifactError: One is damaged, of no known format, holds events of which none could be read, or asks for more
            than it may have.
        CannotCreateError: The folder exists and is not empty, or cannot be written.
        UsageError: There is no such format, or no file is of one that takes columns.
    """
    if output is not None:
        rundir.refuse_full(output)
    paths = _told_once(paths, report)
    readers = [_named(reader) if reader else formats.find(path) for path in paths]
    if columns and all(chosen.read_with_columns is None for chosen in readers):
        takes = ", ".join(known.name for known in formats.all_readers() if known.read_with_columns is not None)
        raise UsageError("--columns is of no use: no file is of a format that takes it.", hint=f"formats: {takes}")
    with applied(limits, paths[0]):
        files = [_read(path, chosen, columns, report) for path, chosen in zip(paths, readers, strict=True)]
        now = datetime.now().astimezone()
        wanted = output or rundir.free_path(paths[0].name.split(".")[0] or "trace", now)
        with part_of(wanted) as part:
            work = ImportedFiles(part)
            each = [
                (path, process) for path, file in zip(paths, files, strict=True) for process in (file, *file.others)
            ]
            work.add([path for path, _ in each], [process for _, process in each])
            work.store(now)
            folder = named_folder(part, wanted, chosen=output is not None)
    return Run(folder, folder.read_manifest())


def _told_once(paths: Sequence[Path], report: Report) -> Sequence[Path]:
    """The files without those that tell again what another of them tells: their work would be added."""
    kept: list[Path] = []
    for path in paths:
        other = xspace_json.repeated(path, paths)
        same = next((one for one in kept if _is_same(one, path)), None)
        if same is not None:
            report(f"{path.name}: not taken again: it is {same.name}, which was given before")
        elif other is not None:
            report(f"{path.name}: not taken: another form of {other.name}, which tells more")
        else:
            kept.append(path)
    return kept


def _is_same(one: Path, other: Path) -> bool:
    """Whether two names are those of one file; one that is not there is told of when it is read."""
    try:
        return one.samefile(other)
    except OSError:
        return False


def _read(path: Path, reader: Reader, columns: Sequence[str], report: Report) -> FileContent:
    content = strays.pass_over(formats.read(path, reader, columns))
    _refuse_unread(path, reader, content)
    report(f"{path.name}: {reader.title}, {_size(content)}")
    return content


@contextlib.contextmanager
def part_of(wanted: Path) -> Iterator[Path]:
    """A folder beside the one that is wanted; removed if anything goes wrong."""
    parent = wanted.absolute().parent
    with writing_into(parent):
        parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=f".{wanted.name}.", dir=parent))
    try:
        with writing_into(part):
            (part / "raw").mkdir()
        yield part
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def named_folder(part: Path, wanted: Path, *, chosen: bool) -> RunDir:
    """Give the folder its name; one that the user did not choose gets a number where it was taken meanwhile."""
    path = wanted if chosen else rundir.free_name(wanted.parent, wanted.name)
    with writing_into(path.parent):
        part.replace(path)
    return RunDir(path.absolute())


def facts_of(run: Run) -> dict[str, Any]:
    """What the first trace of an imported run says of itself, such as its rank."""
    rows = run.rows("sources")
    return dict(json.loads(rows[0]["facts"])) if rows else {}


def _named(name: str) -> Reader:
    reader = formats.named(name)
    if reader is not None:
        return reader
    known = [reader.name for reader in formats.all_readers()]
    raise UsageError(f"There is no format {name}.", hint=f"one of: {', '.join(known)}", near=nearest(name, known))


def _refuse_unread(path: Path, reader: Reader, content: FileContent) -> None:
    """A run without an event, of a file that has some, would say that nothing happened."""
    if content.is_empty and content.skipped:
        raise ArtifactError(f"nothing in it could be read as {reader.name}: {told(content.skipped)}", path=path)
    for said in content.trace.health if content.is_empty and content.trace is not None else ():
        if said.slug == MALFORMED:
            raise ArtifactError(f"nothing in it could be read as {reader.name}: {said.message}", path=path)


def _size(content: FileContent) -> str:
    if content.trace is not None:
        sums = content.trace.sums
        if sums is not None:
            return f"{len(sums):,} sums"
        events = content.trace.size + sum(other.trace.size for other in content.others if other.trace is not None)
        return f"{events:,} events{f' of {1 + len(content.others)} processes' if content.others else ''}"
    return ", ".join(f"{table.num_rows:,} rows of {name}" for name, table in content.tables.items()) or "nothing"
