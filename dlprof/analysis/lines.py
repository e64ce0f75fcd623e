"""Lines: which of the user's lines took the time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa


@dataclass(frozen=True)
class FunctionLines:
    """A function with the counts of its lines.

    Attributes:
        file: As in the tables.
        function: Its qualified name; `<module>` for a file's own code.
        first_line: Where it begins.
        total_ns: Time of all its lines, with what they call (ns).
        lines: Rows of the table `lines`, by line number.
    """

    file: str
    function: str
    first_line: int
    total_ns: int
    lines: tuple[dict[str, Any], ...]


def functions(table: pa.Table) -> list[FunctionLines]:
    """Every function of the table `lines`, the most expensive first."""
    grouped: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for row in table.to_pylist():
        grouped.setdefault((row["file"], row["function"], row["first_line"]), []).append(row)
    found = [
        FunctionLines(*key, sum(row["time_ns"] for row in rows), tuple(sorted(rows, key=lambda r: r["line"])))
        for key, rows in grouped.items()
    ]
    return sorted(found, key=lambda f: (-f.total_ns, f.file, f.first_line))


def hottest(found: Iterable[FunctionLines], top: int) -> list[dict[str, Any]]:
    """The lines with the most time of their own.

    A line's time contains what it calls. So that `main()` does not head every list, the totals of
    profiled functions are taken off the lines that call them, as far as their names show it.
    """
    functions_by_name = {f.function.rpartition(".")[2]: f for f in found}
    rows = []
    for function in functions_by_name.values():
        for row in function.lines:
            called = sum(
                other.total_ns
                for name, other in functions_by_name.items()
                if other is not function and f"{name}(" in (row["source"] or "")
            )
            own = max(0, row["time_ns"] - called) if called else row["time_ns"]
            rows.append({**row, "own_ns": own})
    rows = [row for row in rows if row["own_ns"] > 0]
    return sorted(rows, key=lambda row: -row["own_ns"])[:top]
