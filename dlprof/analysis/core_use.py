"""Every core over a run, from samples that are read piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import Floats, Integers, integers
from dlprof.store.run import Run

_COLUMNS = ("time_ns", "interval_ns", "core", "busy_pct")


@dataclass(frozen=True)
class CoreUse:
    """One core over the run.

    Attributes:
        core: Its number.
        mean_pct: Busy, in percent of the time; None where no tick was counted.
        strip: Busy percent in equal parts of the run; None where there is no sample.
    """

    core: int
    mean_pct: float | None
    strip: tuple[float | None, ...]


@dataclass(frozen=True)
class Cores:
    """All cores.

    Attributes:
        cores: In order of their numbers.
        end_ns: The last sample, up to which their strips reach (ns); None: there is none.
    """

    cores: tuple[CoreUse, ...]
    end_ns: int | None


def of_run(run: Run, parts: int) -> Cores:
    """Every core of a run, with its use in `parts` equal parts of it."""
    return of_pieces(lambda: run.pieces("cores", _COLUMNS), parts)


def of_pieces(pieces: Callable[[], Iterable[pa.Table]], parts: int) -> Cores:
    """Every core, with its use in equal parts of the time up to the last sample.

    Args:
        pieces: Gives the table `cores` in pieces; it is asked twice.
        parts: How many parts.
    """
    ends = [pc.max(piece["time_ns"]).as_py() for piece in pieces() if piece.num_rows]
    if not ends:
        return Cores((), None)
    found: dict[int, _Core] = {}
    for piece in pieces():
        for core in pc.unique(piece["core"]).to_pylist():
            found.setdefault(core, _Core(max(ends), parts)).add(piece.filter(pc.equal(piece["core"], core)))
    return Cores(tuple(found[core].use(core) for core in sorted(found)), max(ends))


@dataclass
class _Core:
    """Sums over the samples of a core: each part of the run has what lies in it of each."""

    end_ns: int
    parts: int
    whole_ns: float = 0.0
    busy: float = 0.0
    part_ns: Floats = field(init=False)
    part_busy: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.part_ns, self.part_busy = np.zeros(self.parts), np.zeros(self.parts)

    def add(self, samples: pa.Table) -> None:
        """Samples of the core."""
        known = samples.filter(pc.is_finite(samples["busy_pct"]))
        ends, spans = integers(known["time_ns"]), integers(known["interval_ns"])
        busy = known["busy_pct"].to_numpy().astype(float)
        self.whole_ns += float(spans.sum())
        self.busy += float((busy * spans).sum())
        if self.end_ns > 0:
            self._add_to_parts(ends - spans, ends, busy)

    def _add_to_parts(self, begins: Integers, ends: Integers, busy: Floats) -> None:
        edges = self.end_ns * np.arange(self.parts + 1) / self.parts
        part = np.clip(np.searchsorted(edges, begins, side="right") - 1, 0, self.parts - 1)
        last = np.clip(np.searchsorted(edges, ends, side="left") - 1, 0, self.parts - 1)
        while len(part):
            inside = np.clip(np.minimum(ends, edges[part + 1]) - np.maximum(begins, edges[part]), 0, None)
            self.part_ns += np.bincount(part, weights=inside, minlength=self.parts)
            self.part_busy += np.bincount(part, weights=inside * busy, minlength=self.parts)
            more = part < last
            part, last, busy = part[more] + 1, last[more], busy[more]
            begins, ends = begins[more], ends[more]

    def use(self, core: int) -> CoreUse:
        """The figures."""
        strip = (float(busy / ns) if ns > 0 else None for busy, ns in zip(self.part_busy, self.part_ns, strict=True))
        return CoreUse(core, self.busy / self.whole_ns if self.whole_ns else None, tuple(strip))
