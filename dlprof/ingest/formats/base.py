"""What a format is, and what its reader gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from dlprof.ingest.artifact import Health, Skipped
from dlprof.ingest.kernels.trace import Trace
from dlprof.ingest.parse.chrome_head import ChromeHead, chrome_head


@dataclass(frozen=True)
class Sample:
    """What a reader may look at to tell whether a file is its own.

    Attributes:
        path: The file.
        head: Its first bytes, unpacked if it is packed with gzip.
    """

    path: Path
    head: bytes

    @property
    def text(self) -> str:
        """The head as text."""
        return self.head.decode("utf-8", "replace")

    @cached_property
    def chrome(self) -> ChromeHead | None:
        """What the head shows of a trace in Chrome's format; None: it is none."""
        return chrome_head(self.head)


@dataclass
class FileContent:
    """What a file gives: events of kernels, or tables of the schema, or both.

    Attributes:
        format: Name of the format.
        trace: The events.
        tables: Tables of the schema, with times in the clock of the file; the columns of the process are filled later.
        zero_ns: Unix time of the zero of the tables' clock (ns), or None.
        facts: What the file says of itself.
        health: What a user must know; that of a trace is taken from there.
        skipped: What the reader passed over, of a trace and of all else.
        others: The other processes of the file, each with its number and name in its facts.
    """

    format: str
    trace: Trace | None = None
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    zero_ns: int | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    health: Sequence[Health] = ()
    skipped: Sequence[Skipped] = ()
    others: Sequence[FileContent] = ()

    @classmethod
    def of(cls, trace: Trace) -> FileContent:
        """The content of a file that holds a trace and nothing else."""
        return cls(trace.format, trace, facts=trace.facts, skipped=trace.skipped)

    @classmethod
    def of_processes(cls, traces: Sequence[Trace]) -> FileContent:
        """The content of a file that holds the traces of several processes, or of one."""
        first, *others = (cls.of(trace) for trace in traces)
        return replace(first, others=others)

    @property
    def is_empty(self) -> bool:
        """Whether the reader took nothing of the file: no event, no sum, no row."""
        read = self.trace is not None and (self.trace.size or self.trace.sums)
        return not read and not any(table.num_rows for table in self.tables.values())


@dataclass(frozen=True)
class Reader:
    """A format.

    Attributes:
        name: Short name, as in `dlprof import --format NAME`.
        title: One line for people.
        claims: Whether a file is of this format; must be quick, and not raise.
        read: Reads it; raises nothing but ArtifactError.
        read_with_columns: Reads one that does not name its columns, given their names; None: the format has none.
        read_window: Reads a trace that dlprof took of a run of its own, whose phases are known beside it; None: as any.
    """

    name: str
    title: str
    claims: Callable[[Sample], bool]
    read: Callable[[Path], FileContent]
    read_with_columns: Callable[[Path, Sequence[str]], FileContent] | None = None
    read_window: Callable[[Path], FileContent] | None = None
