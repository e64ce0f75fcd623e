"""In which condition the tables of a run are: asked whenever one is opened, so it reads little."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dlprof import safe_files
from dlprof.schema.tables import SCHEMA_VERSION, TABLES
from dlprof.store import seal as seals
from dlprof.store.seal import Seal, SealedTable


class State(StrEnum):
    """What can be said of a folder of tables."""

    SOUND = "sound"
    ABSENT = "absent"
    UNSEALED = "unsealed"
    """Those that are there can be read; whether they are all is not known."""
    OLD = "old"
    """Of an older schema; those that are there can be read."""
    NEWER = "newer"
    DAMAGED = "damaged"


@dataclass(frozen=True)
class Damage:
    """A table that is not as it was written, and how so."""

    table: str
    why: str

    def __str__(self) -> str:
        return f"{self.table} {self.why}"


@dataclass(frozen=True)
class Condition:
    """The condition of a folder of tables.

    Attributes:
        state: In a word.
        version: Schema that they are of; None: not known, or there are none.
        damages: What is wrong with which.
        seal: Their seal; None: there is none.
        sound: Names of those that can be read.
    """

    state: State
    version: int | None = None
    damages: tuple[Damage, ...] = ()
    seal: Seal | None = None
    sound: tuple[str, ...] = ()

    @property
    def readable(self) -> bool:
        """Whether what is there can be shown."""
        return self.state in (State.SOUND, State.UNSEALED, State.OLD)


def examine(folder: Path) -> Condition:
    """The condition of the tables in a folder."""
    if not folder.is_dir():
        return Condition(State.ABSENT)
    seal = seals.read(folder)
    if seal is None:
        return _unsealed(folder)
    if seal.schema_version > SCHEMA_VERSION:
        return Condition(State.NEWER, seal.schema_version, seal=seal)
    damages = tuple(_damages(folder, seal))
    fine = State.SOUND if seal.schema_version == SCHEMA_VERSION else State.OLD
    sound = _without(seal.tables, damages)
    return Condition(State.DAMAGED if damages else fine, seal.schema_version, damages, seal, sound)


def _without(names: Iterable[str], damages: Iterable[Damage]) -> tuple[str, ...]:
    damaged = {damage.table for damage in damages}
    return tuple(name for name in names if name in TABLES and name not in damaged)


def _damages(folder: Path, seal: Seal) -> Iterator[Damage]:
    for name, sealed in seal.tables.items():
        why = _changed(folder / f"{name}.parquet", sealed) if name in TABLES else None
        if why is not None:
            yield Damage(name, why)


def _changed(path: Path, sealed: SealedTable) -> str | None:
    """How a table differs from what was sealed; None: not at all."""
    try:
        size = path.lstat().st_size
        if size != sealed.bytes:
            return f"has {size} bytes instead of {sealed.bytes}"
        if sealed.crc32 is not None and seals.crc32(path, size) != sealed.crc32:
            return "has other bytes than were written"
    except FileNotFoundError:
        return "is gone"
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    return None


def _unsealed(folder: Path) -> Condition:
    """Tables of an older dlprof, or of an interrupted one: what their own heads say."""
    paths = [path for path in sorted(folder.glob("*.parquet")) if path.stem in TABLES]
    if not paths:
        return Condition(State.ABSENT)
    versions, damages = [], []
    for path in paths:
        try:
            with safe_files.opened(folder, path.name) as file:
                head = pq.read_schema(file)
            versions.append(int((head.metadata or {}).get(b"dlprof_schema_version", b"0")))
            damages += [Damage(path.stem, why) for why in _other_columns(path.stem, head)]
        except (OSError, ValueError, pa.ArrowException) as error:
            damages.append(Damage(path.stem, f"cannot be read: {error}"))
    version = max(versions, default=None)
    if version is not None and version > SCHEMA_VERSION:
        return Condition(State.NEWER, version)
    fine = State.UNSEALED if version == SCHEMA_VERSION else State.OLD
    sound = _without((path.stem for path in paths), damages)
    return Condition(State.DAMAGED if damages else fine, version, tuple(damages), sound=sound)


def _other_columns(name: str, head: pa.Schema) -> Iterator[str]:
    """Columns that are of another type than the schema says."""
    for column in TABLES[name]:
        if column.name in head.names and _plain(head.field(column.name).type) != _plain(column.type):
            yield f"has another type in column {column.name}: {head.field(column.name).type}"


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
