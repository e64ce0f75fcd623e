"""Reads the events of the Chrome trace format as tables, several blocks at once, where a file is regular.

DuckDB parses JSON without making an object of every event, and on several threads. It is strict, though, and not
told what an odd file means; so what it does not take whole is left to the reader of `chrome`.
"""

from __future__ import annotations

import os
import re
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from dlprof.ingest.limits import budget

if TYPE_CHECKING:  # large: loaded when there is a block
    import duckdb

BLOCK_BYTES = 8 << 20
_OBJECT_BYTES_AT_MOST = 4 << 20
_BLOCKS_JOINED_AT_MOST = 3
_SEPARATOR = re.compile(rb"\}\s{0,64}+,\s{0,64}+\{")

_LOAD = """
create or replace temp table block as
select ph, ph = 'M' or (ph = 'X' and (ts is null or dur is null or lower(cat) in ({categories}))) as wanted,
       ph = 'M' as is_metadata, coalesce(cat, '') as cat, coalesce(name, '') as name, coalesce(pid, '0') as pid,
       coalesce(tid, '0') as tid, ts, dur, args.correlation as correlation, args.device as device, args.bytes as bytes,
       args."Sequence number" as sequence, case when ph = 'M' then args.name end as named,
       case when name in ({shaped}) then args."Input Dims" end as dims,
       ph in ('i', 'I') and name = '{memory}' and args."Total Allocated" is not null
           and args."Device Type" is not null as is_memory,
       args."Device Type" as device_type, args."Device Id" as device_id, args."Total Allocated" as allocated,
       args."Total Reserved" as reserved
from read_json('{path}', format = 'array', maximum_object_size = {size}, columns = {{
    ph: 'VARCHAR', cat: 'VARCHAR', name: 'VARCHAR', pid: 'VARCHAR', tid: 'VARCHAR', ts: 'DOUBLE', dur: 'DOUBLE',
    args: 'STRUCT(correlation BIGINT, device BIGINT, bytes VARCHAR, "Sequence number" BIGINT, name VARCHAR,
                  "Input Dims" JSON, "Device Type" BIGINT, "Device Id" BIGINT, "Total Allocated" BIGINT,
                  "Total Reserved" BIGINT)'}})
"""
_ROWS = """
select * exclude (ph, wanted, is_memory, device_type, device_id, allocated, reserved) from block where wanted
"""
_OTHERS = """
select coalesce(ph, ''), cat, count(*) from block where wanted is not true and is_memory is not true group by all
"""
_MEMORY = """
select pid, device_type, device_id, count(*), max(allocated), max(reserved) from block where is_memory
group by pid, device_type, device_id
"""
_TEXTS = ("cat", "name", "pid", "tid", "bytes", "named", "dims")


@dataclass(frozen=True)
class Table:
    """The events of a block.

    Attributes:
        rows: Metadata and the events of the wanted categories.
        others: The others, counted: (phase, category, events).
        memory: Records of allocators, by process and device, as `memory_records` takes them.
    """

    rows: pa.Table
    others: Sequence[tuple[str, str, int]]
    memory: Sequence[tuple[Any, ...]] = ()


@dataclass(frozen=True)
class _Block:
    """Events in pieces of text, and what stands between them and the next one."""

    events: Sequence[bytes]
    behind: bytes

    def texts(self) -> Sequence[bytes]:
        return [*self.events, self.behind]


class _Cutter:
    """Cuts a text between events.

    Attributes:
        rest: What was read and is in no block.
    """

    def __init__(self, text: bytes, source: IO[bytes]) -> None:
        self.rest = [text]
        self._source = source
        self._separator = _separator(text)

    def cut(self) -> _Block | None:
        """The next block; None: there is no more, or no place to cut at. It may be wrong: then it is not JSON."""
        while len(self.rest) < _BLOCKS_JOINED_AT_MOST and (read := self._source.read(BLOCK_BYTES)):
            self._separator = self._separator or _separator(read)
            at = read.rfind(self._separator) if self._separator else -1
            if at < 0 or self._separator is None:
                self.rest.append(read)
                continue
            behind = at + len(self._separator) - 1
            block = _Block([*self.rest, read[: at + 1]], read[at + 1 : behind])
            self.rest = [read[behind:]]
            return block
        return None


class TableReader:
    """Makes tables of blocks of events; a context, as it has threads and files.

    The columns of a table: is_metadata, cat, name, pid, tid (texts), ts, dur (us), and of the arguments correlation,
    device, bytes (text), sequence, named (a text, of metadata), dims (JSON, of `shaped` operators). All texts come as
    dictionaries. Only metadata and complete events of `categories` are in it; the others are counted beside it, and
    records of allocators summed up.

    Args:
        categories: In lower case.
        shaped: Names of the events of which the shapes are wanted.
        memory: Name of the instants that are records of allocators.
    """

    def __init__(self, categories: frozenset[str], shaped: frozenset[str], memory: str = "") -> None:
        self._terms = {"categories": _listed(categories), "shaped": _listed(shaped), "memory": memory}
        self._workers = min(budget().limits.threads, len(os.sched_getaffinity(0)))
        self._pool = ThreadPoolExecutor(self._workers, "dlprof-json")
        self._folder = tempfile.TemporaryDirectory(prefix="dlprof-")
        self._local = threading.local()
        # Of a block that needs more, nothing is read here: it is read event by event.
        self._memory_bytes = budget().limits.memory_bytes // (2 * self._workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._folder.cleanup()

    def read(self, buffer: bytes, source: IO[bytes]) -> Iterator[tuple[Table, int] | bytes]:
        """Tables of what is in `buffer` and follows in `source`, each with the bytes that it stands for.

        Ends with the text that is left: the last events and what stands behind them, or what could not be read so.
        """
        cutter = _Cutter(buffer, source)
        waiting: deque[tuple[_Block, Future[Table | None]]] = deque()
        while True:
            while len(waiting) <= self._workers and (block := cutter.cut()):
                waiting.append((block, self._pool.submit(self._table, block.events)))
            if not waiting:
                break
            block, future = waiting.popleft()
            table = future.result()
            if table is None:
                blocks = [block, *(later for later, _ in waiting)]
                yield b"".join([*(text for block in blocks for text in block.texts()), *cutter.rest])
                return
            yield table, sum(map(len, block.texts()))
        yield b"".join(cutter.rest)

    def _table(self, events: Sequence[bytes]) -> Table | None:
        """The events of a block; None: it is not as regular as it must be."""
        import duckdb  # noqa: PLC0415

        path = Path(self._folder.name) / f"{threading.get_ident()}.json"
        load = _LOAD.format(path=str(path).replace("'", "''"), size=_OBJECT_BYTES_AT_MOST, **self._terms)
        try:
            with path.open("wb") as target:
                target.writelines((b"[", *events, b"]"))
            connection = self._connection()
            connection.execute(load)
            table = connection.sql(_ROWS).to_arrow_table()
            others, memory = (connection.execute(query).fetchall() for query in (_OTHERS, _MEMORY))
        except (OSError, duckdb.Error):
            return None
        for name in ("ts", "dur"):
            # A time that is left out, and one that is null, look alike here but do not mean the same.
            if table[name].null_count and not pc.all(pc.or_(table["is_metadata"], pc.is_valid(table[name]))).as_py():
                return None
        columns = {name: table[name].combine_chunks() for name in table.column_names}
        columns |= {name: columns[name].dictionary_encode() for name in _TEXTS}
        return Table(pa.table(columns), others, memory)

    def _connection(self) -> duckdb.DuckDBPyConnection:
        import duckdb  # noqa: PLC0415

        connection = getattr(self._local, "connection", None)
        if connection is None:
            settings: dict[str, Any] = {
                "threads": 1,
                "memory_limit": f"{self._memory_bytes >> 20}MiB",
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            }
            connection = self._local.connection = duckdb.connect(":memory:", config=settings)
        return connection


def _listed(texts: frozenset[str]) -> str:
    return ", ".join("'" + text.replace("'", "''") + "'" for text in sorted(texts))


def _separator(text: bytes) -> bytes | None:
    """What stands between the events: of the first places that look so, that which is there most often."""
    found: dict[bytes, int] = {}
    for match in _SEPARATOR.finditer(text, 0, 1 << 16):
        found[match[0]] = found.get(match[0], 0) + 1
    return max(found, key=lambda between: found[between], default=None)
