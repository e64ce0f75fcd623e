"""What is measured of a run of ranks in a benchmark."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis import rank_parts, ranks
from dlprof.analysis.findings import of_ranks
from dlprof.bench import measures
from dlprof.errors import BadDataError
from dlprof.pipeline import ranked
from dlprof.pipeline.opening import open_run
from dlprof.store.ranked import Member, RankedRun

_FAILED = "rank-failed"


def opened(folder: Path) -> RankedRun:
    """The ranks that a cell left; a launcher of one process leaves a run like any other.

    Raises:
        DlprofError: There is no run, or it cannot be opened.
    """
    found = ranked.find(str(folder))
    if found is not None:
        return found
    run = open_run(str(folder))
    return RankedRun(run.folder, run.manifest, (Member(0, run),), 1)


def measure(found: RankedRun, world: int) -> dict[str, float | None]:
    """The measures of a run of ranks: those of rank 0, but for what all of them share.

    The whole process is that of the rank that took longest, samples per second are those of all together.

    Args:
        found: The run.
        world: How many ranks there were to be.

    Raises:
        BadDataError: Ranks are missing.
    """
    if len(found.members) != world:
        raise BadDataError(f"{found.folder.path} has {len(found.members)} ranks, not {world}")
    each = [measures.measure(member.run) for member in found.members]
    values = dict(each[0])
    walls = [one["wall_s"] for one in each]
    rates = [one["samples_per_s"] for one in each]
    values["wall_s"] = max((wall for wall in walls if wall is not None), default=None)
    values["samples_per_s"] = sum(rate for rate in rates if rate is not None) if None not in rates else None
    summary = ranks.of_run(found)
    values["step_ms"] = summary.median_ns / 1e6 if summary.median_ns is not None else values["step_ms"]
    parts = rank_parts.of_run(found)
    if parts is not None:
        told = {
            "train_s": parts.train_ns,
            "train_input_s": parts.input_ns,
            "train_wait_s": parts.wait_ns,
            "train_transfer_s": parts.transfer_ns,
            "train_kernels_s": parts.kernels_ns,
            "train_contention_s": parts.contention_ns,
        }
        values.update({name: ns / 1e9 if ns is not None else None for name, ns in told.items()})
    return values


def first_to_fail(found: RankedRun) -> str | None:
    """The rank that ended first of those that ended badly, in a sentence; None: all ended well."""
    diagnosis = of_ranks.look(found, ranks.of_run(found))
    return next((one.claim for one in diagnosis.findings if one.slug == _FAILED), None)
