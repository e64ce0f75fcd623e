"""Makes single tables of a run again where raw artifacts are gone: those that come out as they were sealed."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from dlprof import safe_files
from dlprof.errors import CannotCreateError
from dlprof.pipeline import private_copy, raw_artifacts
from dlprof.rundir import RunDir, writing_into
from dlprof.store import condition, lock, seal
from dlprof.store.condition import Condition
from dlprof.store.seal import SealedTable


def mend(folder: RunDir, found: Condition) -> Condition:
    """Put damaged tables right as far as what is left of `raw/` gives the very same bytes; the sound ones stay.

    A table that also says what is gone comes out otherwise, and is left damaged.

    Args:
        folder: A run folder.
        found: The condition of its tables.

    Returns:
        Their condition now.
    """
    if found.seal is None or not folder.is_ours or not raw_artifacts.any_left(folder):
        return found
    with contextlib.suppress(CannotCreateError):  # a full disk, or one that is read only
        made = _made_elsewhere(folder)
        with lock.held(folder.path, "mends the tables of"):
            for damage in found.damages:
                _put(made / f"{damage.table}.parquet", folder.tables, found.seal.tables[damage.table])
        return condition.examine(folder.tables)
    return found


def _made_elsewhere(folder: RunDir) -> Path:
    from dlprof.pipeline.ingest import ingest  # noqa: PLC0415  (most runs need not wait for it)

    place = private_copy.of(folder)
    ingest(place)
    return place.tables


def _put(made: Path, tables: Path, sealed: SealedTable) -> None:
    """Put a table into the folder of the others if it is the one that was sealed."""
    if not seal.is_as_sealed(made, sealed):
        return
    with writing_into(tables), made.open("rb") as source, safe_files.new_file(tables / made.name) as out:
        shutil.copyfileobj(source, out)
