"""Reads databases of rocprofv3 and rocprof-sys (rocpd): kernels, copies, calls of HIP and others, and markers.

The tables bear a suffix, one for each process; schema 4 keeps times and places in tables of their own.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.trace import Trace
from dlprof.ingest.parse.cuda_sqlite import Call, CudaEvents, Kernel, NamedCopy, NvtxRange
from dlprof.ingest.parse.sqlite_files import Database, holds_table

_DISPATCHES = re.compile(r"^rocpd_kernel_dispatch(_\w+)?$")
_MARKERS = re.compile(r"MARKER|ROCTX", re.IGNORECASE)
_GPU = "GPU"
_DISPATCH_COLUMNS = (
    "start", "end", "start_id", "end_id", "track_id", "agent_id", "queue_id", "kernel_id", "event_id",
)  # fmt: skip
_COPY_COLUMNS = (
    "start", "end", "start_id", "end_id", "track_id", "dst_agent_id", "src_agent_id", "queue_id", "name_id", "size",
    "event_id",
)  # fmt: skip
_REGION_COLUMNS = ("start", "end", "start_id", "end_id", "track_id", "tid", "name_id", "event_id")


def claims(sample: Sample) -> bool:
    """Whether the file is a database of rocpd."""
    return holds_table(sample.path, sample.head, _DISPATCHES)


def read(path: Path) -> FileContent:
    """A database of rocpd, of one process or several.

    Raises:
        ArtifactError: The file is damaged.
    """
    with Database(path) as database:
        trace = Trace(path, "rocpd", "rocm", attribution="range", facts={"clock": "machine"})
        events = CudaEvents(trace, {})
        devices: dict[int, str | None] = {}
        names: dict[Hashable, str] = {}
        for table in sorted(database.tables):
            if match := _DISPATCHES.match(table):
                process = _Process(database, match[1] or "")
                events.process, names[events.process] = process.key_and_name()
                process.add(events)
                devices |= process.devices
        trace.facts["devices"] = [{"device": number, "name": name} for number, name in sorted(devices.items())]
        events.close(database)
    return FileContent.of_processes(events.traces(names))


class _Process:
    """The tables of one process."""

    def __init__(self, database: Database, suffix: str) -> None:
        self._database = database
        self._suffix = suffix
        self._strings = self._map("rocpd_string", "string")
        self._times = self._map("rocpd_timestamp", "value")
        self._stacks = self._map("rocpd_event", "stack_id")
        self._categories = self._map("rocpd_event", "category_id")
        self._kernels = self._map("rocpd_info_kernel_symbol", "display_name")
        self._plain_kernels = self._map("rocpd_info_kernel_symbol", "kernel_name")
        self._tracks = {row[0]: row[1:] for row in self._all("rocpd_track", ("id", "tid", "agent_id", "queue_id"))}
        agents = self._all("rocpd_info_agent", ("id", "type", "type_index", "product_name", "name"))
        gpus = [agent for agent in agents if agent[1] == _GPU]
        self._numbers = {agent[0]: agent[2] if isinstance(agent[2], int) else place for place, agent in enumerate(gpus)}
        self.devices: dict[int, str | None] = {self._numbers[gpu[0]]: gpu[3] or gpu[4] for gpu in gpus}

    def key_and_name(self) -> tuple[Hashable, str]:
        """The number of the process, else the suffix of its tables; and its command, where the file tells it."""
        told = self._all("rocpd_info_process", ("pid", "command"))
        number, command = told[0] if len(told) == 1 else (None, None)
        return (number if isinstance(number, int) else self._suffix.strip("_") or None), str(command or "")

    def _rows(self, table: str, columns: tuple[str, ...]) -> Iterator[list[tuple[Any, ...]]]:
        return self._database.rows(table + self._suffix, columns)

    def _all(self, table: str, columns: tuple[str, ...]) -> list[tuple[Any, ...]]:
        return self._database.all(table + self._suffix, columns)

    def _map(self, table: str, column: str) -> dict[Any, Any]:
        return dict(self._all(table, ("id", column)))

    def _time(self, value: Any, number: Any) -> Any:
        return value if value is not None else self._times.get(number)

    def _place(self, track: Any, thread: Any, agent: Any, queue: Any) -> tuple[Any, int, Any]:
        """Thread, device and queue, from the row or from its track."""
        of_track = self._tracks.get(track, (None, None, None))
        owns = (thread, agent, queue)
        found = [other if own is None else own for own, other in zip(owns, of_track, strict=True)]
        return found[0], self._numbers.get(found[1], 0), found[2]

    def add(self, events: CudaEvents) -> None:
        """Give all to a trace."""
        for rows in self._rows("rocpd_kernel_dispatch", _DISPATCH_COLUMNS):
            events.add_kernels([self._dispatch(row) for row in rows])
        for rows in self._rows("rocpd_memory_copy", _COPY_COLUMNS):
            events.add_named_copies([self._copy(row) for row in rows])
        for rows in self._rows("rocpd_region", _REGION_COLUMNS):
            self._add_regions(rows, events)

    def _dispatch(self, row: tuple[Any, ...]) -> Kernel:
        start, end, start_id, end_id, track, agent, queue, kernel, event = row
        _, device, stream = self._place(track, None, agent, queue)
        name = self._kernels.get(kernel) or self._plain_kernels.get(kernel) or f"kernel {kernel}"
        times = self._time(start, start_id), self._time(end, end_id)
        return Kernel(*times, device, stream, self._stacks.get(event), name)

    def _copy(self, row: tuple[Any, ...]) -> NamedCopy:
        start, end, start_id, end_id, track, to, source, queue, name, size, event = row
        _, _, stream = self._place(track, None, None, queue)
        device = self._numbers.get(to, self._numbers.get(source, 0))
        times = self._time(start, start_id), self._time(end, end_id)
        return NamedCopy(*times, device, stream, self._stacks.get(event), size, str(self._strings.get(name, "copy")))

    def _add_regions(self, rows: list[tuple[Any, ...]], events: CudaEvents) -> None:
        calls, markers = [], []
        for start, end, start_id, end_id, track, thread, name, event in rows:
            owner, _, _ = self._place(track, thread, None, None)
            times = self._time(start, start_id), self._time(end, end_id)
            text = str(self._strings.get(name, "region"))
            if _MARKERS.search(str(self._strings.get(self._categories.get(event), ""))):
                markers.append(NvtxRange(*times, owner, text))
            else:
                calls.append(Call(*times, owner, self._stacks.get(event), text))
        events.add_calls(calls)
        events.add_ranges(markers)


READER = Reader("rocpd", "rocprofv3, rocprof-sys (rocpd, SQLite)", claims, read)
