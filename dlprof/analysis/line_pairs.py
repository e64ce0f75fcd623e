"""The lines of a script beside each other, as two runs of it counted them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from dlprof.analysis import moved_lines, program
from dlprof.analysis.lines import standard_error_ns
from dlprof.analysis.moved_lines import LineKey
from dlprof.analysis.scaled_hits import significant
from dlprof.schema.vocabulary import LineSource
from dlprof.store.run import Run

_TWO_SIDED = 2.576
"""Standard errors to either side that hold a normal variable in 99 of 100 times: a table has many lines."""


@dataclass(frozen=True)
class LinePair:
    """A line on both sides; means over the runs of a side. None: it is not in that side's script, or was not counted.

    A time without hits is from samples.

    Attributes:
        file, function, line: Where it is, in A's script if it is there.
        source: Its text.
        a_hits, b_hits: How often it ran.
        a_ns, b_ns: Time in it, with what it calls (ns).
        a_scaled, b_scaled: Whether these hits are an estimate: a run counted them in windows.
        error_ns: Standard error of the difference, as far as times are from samples (ns); None: all were counted.
        b_file, b_function, b_line: Where B has it; None: B has it not.
    """

    file: str
    function: str
    line: int
    source: str
    a_hits: int | None
    a_ns: int | None
    b_hits: int | None
    b_ns: int | None
    a_scaled: bool = False
    b_scaled: bool = False
    error_ns: int | None = None
    b_file: str | None = None
    b_function: str | None = None
    b_line: int | None = None

    @property
    def has_moved(self) -> bool:
        """Whether both have it, each in another file, or in a function of another name."""
        return self.a_ns is not None and self.b_file is not None and self._place != (self.b_file, self.b_function)

    @property
    def _place(self) -> tuple[str, str]:
        return self.file, self.function

    @property
    def delta_ns(self) -> int:
        """A minus B (ns)."""
        return (self.a_ns or 0) - (self.b_ns or 0)

    @property
    def ci_ns(self) -> tuple[int, int] | None:
        """99 % interval of the difference, by the samples (ns); None: all was counted."""
        if self.error_ns is None:
            return None
        most = round(_TWO_SIDED * self.error_ns)
        return self.delta_ns - most, self.delta_ns + most

    @property
    def within_noise(self) -> bool:
        """Whether samples may differ so much where the line takes as long on both sides."""
        return self.ci_ns is not None and self.ci_ns[0] <= 0 <= self.ci_ns[1]


@dataclass
class _Counts:
    """Counts of a line over the runs of a side; `hits` is None where no run counted it: its time is from samples."""

    line: int
    hits: int | None = None
    time_ns: int = 0
    scaled: bool = False
    squares: float | None = None
    """Sum of the squared standard errors of its times (ns^2); None: all were counted."""

    def add(self, one: _Counts) -> None:
        """Add what is known of the line, by counting or by samples."""
        if one.hits is not None:
            self.hits = (self.hits or 0) + one.hits
            self.scaled |= one.scaled
        self.time_ns += one.time_ns
        if one.squares is not None:
            self.squares = (self.squares or 0.0) + one.squares


def join(a: Sequence[Run], b: Sequence[Run]) -> list[LinePair]:
    """Join the lines by file, function and text: so a script that was changed in between still fits.

    The scripts themselves are one file, whatever they are called. What is left is joined by functions that were renamed
    or moved, and by text (`moved_lines`).

    Equal lines of a function are told apart by their order. The largest difference comes first, and those that may be
    noise of the samples come last.
    """
    of_a, of_b = _means(a), _means(b)
    to_a = moved_lines.matches(of_a, of_b, _renamed(a, b))
    to_b = {ours: theirs for theirs, ours in to_a.items()}
    pairs = [_pair(key, counts, to_b.get(key), of_b) for key, counts in of_a.items()]
    pairs += [_alone(key, counts) for key, counts in of_b.items() if key not in to_a]
    return sorted(pairs, key=lambda pair: (pair.within_noise, -abs(pair.delta_ns), pair.file, pair.line))


def _renamed(a: Sequence[Run], b: Sequence[Run]) -> dict[str, str]:
    """The name of B's script to that of A's, where neither side has the other's beside its own."""
    one, two = (PurePath(side[0].manifest.command.script or "").name for side in (a, b))
    files = [{row["file"] for run in side for row in run.rows("lines")} for side in (a, b)]
    return {two: one} if one and two and one != two and two not in files[0] and one not in files[1] else {}


def _pair(key: LineKey, a: _Counts, b_key: LineKey | None, of_b: Mapping[LineKey, _Counts]) -> LinePair:
    """What both sides know of a line that A has."""
    b = of_b[b_key] if b_key is not None else None
    return LinePair(
        file=key.file,
        function=key.function,
        line=a.line,
        source=key.text,
        a_hits=a.hits,
        a_ns=a.time_ns,
        b_hits=b.hits if b else None,
        b_ns=b.time_ns if b else None,
        a_scaled=a.scaled,
        b_scaled=b is not None and b.scaled,
        error_ns=_error_ns([side.squares for side in (a, b) if side is not None and side.squares is not None]),
        b_file=b_key.file if b_key else None,
        b_function=b_key.function if b_key else None,
        b_line=b.line if b else None,
    )


def _alone(key: LineKey, b: _Counts) -> LinePair:
    """A line that only B has."""
    return LinePair(
        file=key.file,
        function=key.function,
        line=b.line,
        source=key.text,
        a_hits=None,
        a_ns=None,
        b_hits=b.hits,
        b_ns=b.time_ns,
        b_scaled=b.scaled,
        error_ns=_error_ns([b.squares] if b.squares is not None else []),
        b_file=key.file,
        b_function=key.function,
        b_line=b.line,
    )


def _error_ns(squares: Sequence[float]) -> int | None:
    return round(math.sqrt(sum(squares))) if squares else None


def _means(runs: Sequence[Run]) -> dict[LineKey, _Counts]:
    """Each line with the means of its hits and its time over the runs."""
    sums: dict[LineKey, _Counts] = {}
    for run in runs:
        seen: Counter[tuple[str, str, str]] = Counter()
        for (file, function, _, source), counts in _of_run(run).items():
            place = (file, function, source)
            seen[place] += 1
            whole = sums.setdefault(LineKey(*place, seen[place]), _Counts(counts.line))
            whole.add(counts)
    return {key: _mean(sum_, len(runs)) for key, sum_ in sums.items()}


def _of_run(run: Run) -> dict[tuple[str, str, int, str], _Counts]:
    """The lines of a run in order, by file, function, number and text; one that was counted and sampled is one."""
    lines: dict[tuple[str, str, int, str], _Counts] = {}
    beside = program.others(run)
    rows = [row for row in run.rows("lines") if row["pid"] not in beside]
    for row in sorted(rows, key=lambda row: (row["file"], row["line"])):
        key = row["file"], row["function"], row["line"], (row["source"] or "").strip()
        error_ns = standard_error_ns(row["time_ns"], row["samples"])
        squares = None if error_ns is None else float(error_ns) ** 2
        scaled = row["how"] == LineSource.SCALED
        counts = _Counts(row["line"], row["hits"], row["time_ns"], scaled, squares)
        lines.setdefault(key, _Counts(row["line"])).add(counts)
    return lines


def _mean(sums: _Counts, runs: int) -> _Counts:
    hits = None if sums.hits is None else sums.hits // runs
    if hits is not None and sums.scaled:
        hits = significant(hits, 2)
    squares = None if sums.squares is None else sums.squares / runs**2
    return _Counts(sums.line, hits, sums.time_ns // runs, sums.scaled, squares)
