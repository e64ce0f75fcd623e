"""Whether the files of a run came from disk or from the system's cache: that alone makes imports seconds longer."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from dlprof.store.run import Run

_MORE_PAGES, _RATIO = 30, 1.5
"""So many more pages read from disk, and so much more in all, make the difference one of the system's cache."""
_FAR = (1 << 63) - 1


def pages_from_disk(run: Run) -> int | None:
    """Pages that the traced process waited for a disk for, until it trained; None: not measured."""
    pid = run.manifest.process.pid
    begins = [pc.min(piece["start_ns"]).as_py() for piece in run.pieces("steps", ("start_ns",)) if piece.num_rows]
    begin = min(begins, default=_FAR)

    def is_early(samples: pa.Table) -> pa.ChunkedArray:
        return pc.and_(pc.equal(samples["pid"], pid), pc.less_equal(samples["time_ns"], begin))

    early = run.filtered("process_samples", ("pid", "time_ns", "faults_major"), is_early)
    return pc.max(early["faults_major"]).as_py()  # type: ignore[no-any-return]


def is_colder(one: int | None, two: int | None) -> bool:
    """Whether so many pages are much more than the other run's; not so where one was not measured."""
    return one is not None and two is not None and one - two > _MORE_PAGES and one > _RATIO * two
