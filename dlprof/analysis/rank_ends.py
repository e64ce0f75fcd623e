"""How the ranks of a training ended, and in which order those failed that did not end well."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dlprof.analysis.clocks import Clock
from dlprof.schema.vocabulary import RunState, SpanKind
from dlprof.store.run import Run

_OF_RAY = "--raylet-name="
"""An argument of Ray's workers: Ray ends them itself, with exit code 1, also where all went well."""
_TOLD_TO_END = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""Signals with which a launcher ends the others when one has failed."""
_SEEN_LATE_NS = 200_000_000
"""The other ranks may know of a death, by a connection that is closed, so much sooner than its end was seen."""


@dataclass(frozen=True)
class RankEnd:
    """The end of a rank.

    Attributes:
        ended: How its process ended, in words.
        failed: It did not end as it should.
        error: Class of the exception that ended it; None: none was seen.
        error_file, error_line: The user's line of that.
        time_ns: When it failed, on its own timeline (ns); None: that was not seen, or it did not fail.
        is_cut: What it did last was not written: it may have done more than what was recorded.
        is_latest: It failed at that time at the latest: the others may have known it sooner.
    """

    ended: str
    failed: bool
    error: str | None = None
    error_file: str | None = None
    error_line: int | None = None
    time_ns: int | None = None
    is_cut: bool = False
    is_latest: bool = False


def of_run(run: Run) -> RankEnd:
    """How a rank ended."""
    process, cut = run.manifest.process, run.manifest.unrecorded is not None
    if run.manifest.state == RunState.RUNNING:
        return RankEnd("end not seen", True, is_cut=True)
    if process.signal is not None:
        latest = process.signal not in _TOLD_TO_END
        return RankEnd(f"signal {process.signal}", True, time_ns=run.wall_ns, is_cut=cut, is_latest=latest)
    if process.exit_code is None:
        return RankEnd("still ran" if process.went_on else "end not known", False, is_cut=cut)
    if process.exit_code == 1 and any(word.startswith(_OF_RAY) for word in run.manifest.command.argv):
        return RankEnd("ended by Ray", False, is_cut=cut)
    if process.exit_code == 0:
        return RankEnd("exit code 0", False, is_cut=cut)
    return _failed(run, f"exit code {process.exit_code}", cut=cut)


def _failed(run: Run, ended: str, *, cut: bool) -> RankEnd:
    """The end of one that ended itself, by an exception or by what it called."""
    left = run.chosen("spans", "kind", (SpanKind.EXCEPTION,), ("name", "file", "line", "start_ns"))
    if left:
        last = left[-1]
        return RankEnd(ended, True, last["name"], last["file"], last["line"], last["start_ns"], cut)
    return RankEnd(ended, True, time_ns=_left_script(run), is_cut=cut, is_latest=True)


def _left_script(run: Run) -> int | None:
    """When the user's code was over: a process may take long to end after that, its connections closed."""
    rows = run.chosen("spans", "kind", (SpanKind.SCRIPT,), ("start_ns", "dur_ns", "ended"))
    ends = [row["start_ns"] + row["dur_ns"] for row in rows if row["ended"]]
    return max(ends, default=run.wall_ns)


def failures(ends: Mapping[int, RankEnd], clock: Clock) -> dict[int, int] | None:
    """The ranks that failed, first to last, with when on the clock in common (ns); None: their order is not known.

    Args:
        ends: Rank to how it ended.
        clock: How their clocks stand to each other.
    """
    bad = {rank: end for rank, end in ends.items() if end.failed}
    if clock.unknown is not None or any(
        end.time_ns is None or rank not in clock.placements for rank, end in bad.items()
    ):
        return None
    times = {
        rank: int(clock.placements[rank].placed(np.array([end.time_ns or 0], np.int64))[0]) for rank, end in bad.items()
    }
    return dict(sorted(times.items(), key=lambda pair: pair[1] - _SEEN_LATE_NS * bad[pair[0]].is_latest))
