"""Memory of a run over time: of the whole tree of processes, and what the traced one has for itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import tracing_times
from dlprof.analysis.columns import Floats, Integers, Truths, integers, truths
from dlprof.store.run import Run

_MOST_ROWS = 100_000
"""Of more rows not every sample is looked at."""
_NEAR_NS = 1_000_000_000
"""Kinds of pages that were looked at so shortly before or after a moment still speak of it."""
_LEAST_SAMPLES = 16
"""Of a process below, that it counts with the others."""
KINDS = ("anonymous_bytes", "file_bytes", "shared_bytes", "swap_bytes")
_COLUMNS = ("pid", "time_ns", "rss_bytes", "peak_rss_bytes", "pss_bytes", "uss_bytes", *KINDS)


@dataclass(frozen=True)
class MemorySeries:
    """Samples of memory, in order of time; an array each.

    Attributes:
        time_ns: When (ns on the run's timeline).
        tree_bytes: Resident memory of the traced process and all below it (bytes); shared pages count in each.
        processes: How many these were.
        grown_bytes: By how much processes had grown since the first sample, in all: what one of them has as it comes,
            and what goes with one, is no growth.
        own_bytes: Of the traced process alone: resident memory without pages of files, and what is swapped out (bytes);
            the kinds are known once a second, between that they are taken as on a line.
        beside_bytes: Of `own_bytes` what is not anonymous: shared memory, and what is swapped out (bytes); 0 where
            that is not split.
        below_bytes: `own_bytes` of the processes below it together: workers of loaders, for example.
        kinds: Name of a kind (`KINDS`) to what the tree has of it (bytes), NaN where it was not measured; looked at
            once a second: `kinds_ns`.
        kinds_ns: When the kinds were looked at (ns).
        is_split: Whether `own_bytes` is without pages of files: an older run tells no kinds.
        is_traced: Whether kernels were traced then, which takes memory itself: records, and what lies between them.
        kernel_peak_bytes: The most that the traced process ever had resident, as the kernel kept it when it was last
            asked from outside (`memory_at_end` knows more); None: not told.
        kernel_peak_ns: When that was (ns).
        own_peak_bytes: The most that was seen resident of the traced process in a sample (bytes).
        pss_bytes, uss_bytes: Largest sums over the tree of proportional and unique sizes; None: not measured.
    """

    time_ns: Integers
    tree_bytes: Integers
    processes: Integers
    grown_bytes: Integers
    own_bytes: Integers
    beside_bytes: Integers
    below_bytes: Integers
    kinds: dict[str, Floats]
    kinds_ns: Integers
    is_split: bool
    is_traced: Truths
    kernel_peak_bytes: int | None
    kernel_peak_ns: int | None
    own_peak_bytes: int
    pss_bytes: int | None
    uss_bytes: int | None

    def __len__(self) -> int:
        return len(self.time_ns)

    def at(self, time_ns: Integers) -> Floats:
        """The tree's memory at some moments, on a line between two samples."""
        return np.interp(time_ns, self.time_ns, self.tree_bytes)

    def grown(self, start_ns: Integers, end_ns: Integers) -> Integers:
        """By how much processes grew between two moments each, on lines between samples (bytes)."""
        start, end = (np.interp(edge, self.time_ns, self.grown_bytes) for edge in (start_ns, end_ns))
        return np.rint(end - start).astype(np.int64)

    def own_at(self, time_ns: int) -> int:
        """Memory of the traced process alone at a moment, on a line between two samples (bytes)."""
        return int(np.interp(time_ns, self.time_ns, self.own_bytes))

    def own_told(self, time_ns: int, rss_bytes: int, anonymous_bytes: int) -> int:
        """What `own_bytes` is at a moment of which the traced process itself tells its memory (bytes).

        Args:
            time_ns: The moment (ns).
            rss_bytes: What was resident (bytes).
            anonymous_bytes: What of that was neither of a file nor shared (bytes).
        """
        if not self.is_split:
            return rss_bytes
        return anonymous_bytes + int(np.interp(time_ns, self.time_ns, self.beside_bytes))

    def largest(self, rows: Integers | None = None) -> int:
        """Which of some samples (None: all) is the largest: of those in which no kernels were traced, if any were."""
        among = np.arange(len(self)) if rows is None else rows
        plain = among[~self.is_traced[among]]
        chosen = plain if len(plain) else among
        return int(chosen[np.argmax(self.tree_bytes[chosen])])

    def kinds_at(self, time_ns: int) -> dict[str, int | None]:
        """Kinds of the tree's memory where they were looked at nearest to a moment; None: not near it."""
        if not len(self.kinds_ns):
            return dict.fromkeys(KINDS)
        nearest = int(np.argmin(np.abs(self.kinds_ns - time_ns)))
        if abs(int(self.kinds_ns[nearest]) - time_ns) > _NEAR_NS:
            return dict.fromkeys(KINDS)
        return {name: None if np.isnan(of[nearest]) else int(of[nearest]) for name, of in self.kinds.items()}


def of_run(run: Run) -> MemorySeries | None:
    """The samples of a run; None: there are none."""
    stride = 1 + run.count("process_samples") // _MOST_ROWS
    # A process that has ended, and that nobody has waited for, has nothing resident: it is no part of the run.
    known = (piece.filter(pc.greater(piece["rss_bytes"], 0)) for piece in run.pieces("process_samples", _COLUMNS))
    pieces = [thinned(piece, stride) for piece in known if piece.num_rows]
    if not pieces:
        return None
    rows = pa.concat_tables(pieces)
    rows = rows.sort_by("time_ns")
    time, first = np.unique(integers(rows["time_ns"]), return_index=True)
    kinds_ns, kinds = _kinds(rows)
    main = rows.filter(pc.equal(rows["pid"], run.manifest.process.pid))
    own_ns, own, is_split = _own(main)
    return MemorySeries(
        time_ns=time,
        tree_bytes=np.add.reduceat(integers(rows["rss_bytes"]), first),
        processes=np.diff(np.append(first, rows.num_rows)),
        grown_bytes=_grown(rows, time),
        own_bytes=np.interp(time, own_ns, own).astype(np.int64) if len(own_ns) else np.zeros(len(time), np.int64),
        beside_bytes=_beside(main, time),
        below_bytes=_below(rows, run.manifest.process.pid, time),
        kinds=kinds,
        kinds_ns=kinds_ns,
        is_split=is_split,
        is_traced=tracing_times.of_run(run).at(time),
        kernel_peak_bytes=_largest(main, "peak_rss_bytes"),
        kernel_peak_ns=_largest(main.filter(pc.is_valid(main["peak_rss_bytes"])), "time_ns"),
        own_peak_bytes=_largest(main, "rss_bytes") or 0,
        pss_bytes=_largest_sum(rows, "pss_bytes"),
        uss_bytes=_largest_sum(rows, "uss_bytes"),
    )


def thinned(rows: pa.Table, stride: int) -> pa.Table:
    """Of `stride` samples each the one with most memory in all, and the first that tells kinds: peaks are kept."""
    if stride == 1:
        return rows
    time, place = np.unique(integers(rows["time_ns"]), return_inverse=True)
    tree = np.bincount(place, weights=_floats(rows["rss_bytes"]))
    told = np.bincount(place, weights=truths(pc.is_valid(rows["anonymous_bytes"]))) > 0
    group = np.arange(len(time)) // stride
    most = np.lexsort((-tree, group))[np.searchsorted(group, np.unique(group))]
    first = np.flatnonzero(told)
    first = first[np.unique(group[first], return_index=True)[1]]
    keep = np.zeros(len(time), bool)
    keep[most] = keep[first] = True
    return rows.filter(pa.array(keep[place]))


def _kinds(rows: pa.Table) -> tuple[Integers, dict[str, Floats]]:
    known = rows.filter(pc.is_valid(rows["anonymous_bytes"]))
    if not known.num_rows:
        return np.empty(0, np.int64), {name: np.empty(0) for name in KINDS}
    time, first = np.unique(integers(known["time_ns"]), return_index=True)
    return time, {name: np.add.reduceat(_floats(known[name]), first) for name in KINDS}


def _own(main: pa.Table) -> tuple[Integers, Floats, bool]:
    """When a process was sampled, and its own memory then."""
    time, resident = integers(main["time_ns"]), _floats(main["rss_bytes"])
    known = main.filter(pc.is_valid(main["anonymous_bytes"]))
    if not known.num_rows:
        return time, resident, False
    of_files = _floats(known["file_bytes"]) - np.nan_to_num(_floats(known["swap_bytes"]))
    return time, resident - np.interp(time, integers(known["time_ns"]), np.nan_to_num(of_files)), True


def _beside(main: pa.Table, time: Integers) -> Integers:
    """Shared memory of a process, and what of it is swapped out."""
    known = main.filter(pc.is_valid(main["anonymous_bytes"]))
    if not known.num_rows:
        return np.zeros(len(time), np.int64)
    held = np.nan_to_num(_floats(known["shared_bytes"])) + np.nan_to_num(_floats(known["swap_bytes"]))
    return np.interp(time, integers(known["time_ns"]), held).astype(np.int64)


def _grown(rows: pa.Table, time: Integers) -> Integers:
    """Sum of the growth of each process from its first sample on, by time of the last one."""
    pid, at, resident = (integers(rows[name]) for name in ("pid", "time_ns", "rss_bytes"))
    order = np.lexsort((at, pid))
    pid, at, resident = pid[order], at[order], resident[order]
    goes_on = pid[1:] == pid[:-1]
    changes = np.zeros(len(time), np.int64)
    np.add.at(changes, np.searchsorted(time, at[1:][goes_on]), np.diff(resident)[goes_on])
    return np.cumsum(changes)


def _below(rows: pa.Table, pid: int | None, time: Integers) -> Integers:
    """Memory of the other processes that were there for a while, together."""
    whole = np.zeros(len(time), np.int64)
    counts = rows.group_by("pid").aggregate([("time_ns", "count")])
    for one, count in zip(counts["pid"].to_pylist(), counts["time_ns_count"].to_pylist(), strict=True):
        if one != pid and count >= _LEAST_SAMPLES:
            at, own, _ = _own(rows.filter(pc.equal(rows["pid"], one)))
            whole += np.interp(time, at, own, left=0, right=0).astype(np.int64)
    return whole


def _floats(column: pa.ChunkedArray) -> Floats:
    return np.asarray(pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False), np.float64)


def _largest(rows: pa.Table, column: str) -> int | None:
    value = pc.max(rows[column]).as_py()
    return None if value is None else int(value)


def _largest_sum(rows: pa.Table, column: str) -> int | None:
    known = rows.filter(pc.is_valid(rows[column]))
    if not known.num_rows:
        return None
    _, first = np.unique(integers(known["time_ns"]), return_index=True)
    return int(np.add.reduceat(integers(known[column]), first).max())
