"""`dlprof dump`: a raw artifact, record by record."""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXAMPLES = """\
examples:
  dlprof dump raw/cores.jsonl                            of the last run
  dlprof dump dlprof_runs/RUN/raw/inproc.wire --limit 20
  dlprof dump dlprof_runs/RUN/raw/cores.jsonl
  dlprof dump dlprof_runs/RUN/tables/steps.parquet

A file that was cut short is shown up to there."""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    artifact: str
    limit: int | None


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument(
        "artifact",
        metavar="FILE",
        help="a .wire, .jsonl, .json, .json.gz or .parquet file of a run (raw/cores.jsonl: of the last one)",
    )
    parser.add_argument("--limit", type=int, metavar="N", help="stop after N records")


def run(args: Arguments) -> int:
    """Print one JSON object per record."""
    from dlprof.errors import NoInputError

    path = _found(Path(args.artifact))
    if path is None:
        raise NoInputError(f"There is no file {args.artifact}.", hint="the raw artifacts of a run are in RUN/raw/")
    for record in itertools.islice(_records(path), args.limit):
        print(json.dumps(record, default=str))
    return 0


def _found(path: Path) -> Path | None:
    """The file: here, or in the last run, which is then said."""
    from dlprof import rundir
    from dlprof.report.say import say

    if path.is_file():
        return path
    runs = rundir.find(Path(rundir.RUNS_FOLDER))
    if not runs or not (runs[-1].path / path).is_file():
        return None
    say(f"of the last run, {runs[-1].path.name}")
    return runs[-1].path / path


def _records(path: Path) -> Iterator[Any]:
    from dlprof.errors import UsageError

    readers = {".wire": _wire, ".jsonl": _lines, ".json": _json, ".gz": _json, ".parquet": _parquet}
    reader = readers.get(path.suffix)
    if reader is None:
        raise UsageError(f"{path.name} is no artifact that dlprof knows.", hint=f"known endings: {', '.join(readers)}")
    return reader(path)


def _wire(path: Path) -> Iterator[Any]:
    from dlprof.ingest.own import wire

    yield from wire.describe(path)
    stream = wire.read(path)
    if not stream.complete:
        print(f"the stream ends without a trailer{': ' + stream.cut if stream.cut else ''}", file=sys.stderr)


def _lines(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8", errors="replace") as source:
        for number, line in enumerate(source, 1):
            try:
                yield json.loads(line)
            except ValueError:
                print(f"line {number} is cut", file=sys.stderr)
                return


def _json(path: Path) -> Iterator[Any]:
    from dlprof.ingest.artifact import ArtifactError

    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        value = json.loads(content)
    except (OSError, EOFError, ValueError) as error:
        raise ArtifactError(f"cannot be read: {error}", path=path) from error
    yield from value if isinstance(value, list) else [value]


def _parquet(path: Path) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from dlprof.ingest.artifact import ArtifactError

    try:
        yield from pq.read_table(path).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise ArtifactError(f"cannot be read: {error}", path=path) from error
