"""The lines of a script beside each other, as two runs of it counted them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlprof.store.run import Run

Key = tuple[str, str, str, int]


@dataclass(frozen=True)
class LinePair:
    """A line on both sides; means over the runs of a side. None: it is not in that side's script, or was not counted.

    Attributes:
        file, function, line: Where it is, in A's script if it is there.
        source: Its text.
        a_hits, b_hits: How often it ran.
        a_ns, b_ns: Time in it, with what it calls (ns).
    """

    file: str
    function: str
    line: int
    source: str
    a_hits: int | None
    a_ns: int | None
    b_hits: int | None
    b_ns: int | None

    @property
    def delta_ns(self) -> int:
        """A less B (ns)."""
        return (self.a_ns or 0) - (self.b_ns or 0)


def join(a: Sequence[Run], b: Sequence[Run]) -> list[LinePair]:
    """Join the lines by file, function and text: so a script that was changed in between still fits.

    Equal lines of a function are told apart by their order. The largest difference comes first.
    """
    sides = _mean(a), _mean(b)
    found = []
    for key in {**sides[0], **sides[1]}:
        one, two = (side.get(key) for side in sides)
        place = one or two or {}
        found.append(
            LinePair(
                key[0], key[1], place["line"], key[2],
                _value(one, "hits"), _value(one, "time_ns"), _value(two, "hits"), _value(two, "time_ns"),
            )
        )  # fmt: skip
    return sorted(found, key=lambda pair: (-abs(pair.delta_ns), pair.file, pair.line))


def _value(row: Mapping[str, Any] | None, name: str) -> int | None:
    return None if row is None else int(row[name])


def _mean(runs: Sequence[Run]) -> dict[Key, dict[str, Any]]:
    """Each line with the means of its hits and its time over the runs."""
    sums: dict[Key, dict[str, Any]] = {}
    for run in runs:
        seen: dict[tuple[str, str, str], int] = {}
        for row in sorted(run.rows("lines"), key=lambda r: (r["file"], r["line"])):
            text = (row["source"] or "").strip()
            number = seen[row["file"], row["function"], text] = seen.get((row["file"], row["function"], text), 0) + 1
            total = sums.setdefault((row["file"], row["function"], text, number), {**row, "hits": 0, "time_ns": 0})
            total["hits"] += row["hits"]
            total["time_ns"] += row["time_ns"]
    return {
        key: {**row, "hits": row["hits"] // len(runs), "time_ns": row["time_ns"] // len(runs)}
        for key, row in sums.items()
    }
