"""Who allocated memory, as the sums of what memray recorded tell it (`raw/heap.json`): `heap` and `heap_held`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pyarrow as pa

from dlprof import safe_files
from dlprof.ingest.artifact import ArtifactError, ProcessId
from dlprof.ingest.file_names import FileNames
from dlprof.schema.tables import TABLES

FORMAT = "dlprof.heap/1"


class Frame(msgspec.Struct, frozen=True, array_like=True):
    """A line of Python."""

    file: str
    line: int
    function: str


class Place(msgspec.Struct, frozen=True):
    """Where memory was allocated (`dlprof_probes.inproc.heap_sums`)."""

    user: Frame | None
    at: Frame | None
    peak_bytes: int
    peak_count: int
    held: tuple[int, ...]
    places: int


class Sums(msgspec.Struct, frozen=True):
    """What the file holds.

    Attributes:
        failed: Why there are no sums; None: there are.
        moments_wall_ns: The moments of which places tell what they held (ns since 1970).
        places: Those that held most first.
    """

    failed: str | None = None
    format: str = FORMAT
    moments_wall_ns: tuple[int, ...] = ()
    places: tuple[Place, ...] = ()


def read(path: Path) -> Sums:
    """Read it.

    Raises:
        ArtifactError: The file is damaged or of another format.
    """
    try:
        sums = msgspec.json.decode(safe_files.read_text(path), type=Sums)
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        raise ArtifactError(f"no sums of allocations: {error}", path=path) from error
    if sums.format != FORMAT:
        raise ArtifactError(f"format {sums.format}, expected {FORMAT}", path=path)
    if any(len(place.held) != len(sums.moments_wall_ns) for place in sums.places):
        raise ArtifactError("a place does not tell of each moment", path=path)
    return sums


def tables(sums: Sums, process: ProcessId, names: FileNames, to_run_ns: int) -> Mapping[str, pa.Table]:
    """The tables `heap` and `heap_held`.

    Args:
        sums: What was read.
        process: The traced process.
        names: Names of files in the tables.
        to_run_ns: What makes of a wall clock's time one of the run's timeline (ns).
    """
    rows = [
        {
            **process.columns,
            "place": number,
            **_columns("", place.user, names),
            **_columns("at_", place.at, names),
            "peak_bytes": place.peak_bytes,
            "peak_count": place.peak_count,
            "places": place.places,
        }
        for number, place in enumerate(sums.places)
    ]
    held = [
        {**process.columns, "place": number, "time_ns": wall_ns + to_run_ns, "bytes": held}
        for number, place in enumerate(sums.places)
        for wall_ns, held in zip(sums.moments_wall_ns, place.held, strict=True)
    ]
    return {
        "heap": pa.Table.from_pylist(rows, schema=TABLES["heap"]),
        "heap_held": pa.Table.from_pylist(held, schema=TABLES["heap_held"]),
    }


def _columns(prefix: str, frame: Frame | None, names: FileNames) -> dict[str, str | int | None]:
    return {
        f"{prefix}file": names.short(frame.file) if frame is not None else None,
        f"{prefix}line": frame.line if frame is not None else None,
        f"{prefix}function": frame.function if frame is not None else None,
    }
