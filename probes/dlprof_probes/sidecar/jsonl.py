"""Raw files of the sampler: JSON lines, appended and flushed as time goes on.

First line: header object with `format`. Then one array or object per line. Last line, of a file that
was finished in order: an object with `"end": true`. A cut file is readable up to the cut.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, TextIO

FLUSH_NS = 1_000_000_000
LIVE_FLUSH_NS = 200_000_000
"""While someone looks on."""


def anchor() -> dict[str, int]:
    """A pair of readings of the run's clock and the wall clock (ns), and the width of the bracket."""
    tries = []
    for _ in range(20):
        before = time.perf_counter_ns()
        wall = time.time_ns()
        after = time.perf_counter_ns()
        tries.append((after - before, {"perf_ns": (before + after) // 2, "wall_ns": wall, "width_ns": after - before}))
    return min(tries, key=lambda pair: pair[0])[1]


class Writer:
    """Appends to one raw file; stops for good, with a reason, when that fails.

    Args:
        path: The file; it must not exist.
        header: Its first line.
        flush_ns: How long a row may wait before it reaches the disk.

    Attributes:
        failed: Why nothing is written any more, or None.
        rows: Rows written so far.
    """

    def __init__(self, path: Path, header: dict[str, Any], flush_ns: int = FLUSH_NS) -> None:
        self.failed: str | None = None
        self.rows = 0
        self._flush_ns = flush_ns
        self._flushed = time.perf_counter_ns()
        self._file: TextIO | None = None
        try:
            self._file = path.open("x", encoding="utf-8")
        except OSError as error:
            self._fail(error)
        self._line(header)

    def row(self, row: list[Any]) -> None:
        """Append a row; it reaches the disk within `flush_ns`."""
        self._line(row)
        self.rows += 1
        if time.perf_counter_ns() - self._flushed > self._flush_ns:
            self.flush()

    def flush(self) -> None:
        """Hand all rows to the operating system."""
        self._flushed = time.perf_counter_ns()
        try:
            if self._file is not None:
                self._file.flush()
        except OSError as error:
            self._fail(error)

    def finish(self, trailer: dict[str, Any]) -> None:
        """Append the trailer and close."""
        self._line({"end": True, "rows": self.rows, **trailer})
        self.flush()

    def _line(self, value: Any) -> None:
        if self._file is None:
            return
        try:
            self._file.write(json.dumps(value, separators=(",", ":")) + "\n")
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        self.failed = f"cannot write: {error.strerror or error}"
        self._file = None
