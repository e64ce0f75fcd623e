"""What the steady training of a run of ranks is made of, as a mean of its ranks: what scaling studies compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import mean

from dlprof.analysis import ranks
from dlprof.analysis.columns import integers, steps_of
from dlprof.analysis.rank_contention import waiting_share
from dlprof.analysis.ranks import RankTimes
from dlprof.schema.vocabulary import Loop
from dlprof.store.ranked import RankedRun
from dlprof.store.run import Run


@dataclass(frozen=True)
class TrainingParts:
    """Steady training: each rank's train steps times its median plain step; all times are means over the ranks (ns).

    Attributes:
        train_ns: All of it.
        input_ns: Of it the host's waits for batches.
        wait_ns: Standing still for ranks that came later to a collective; None: not known of all ranks.
        transfer_ns: Standing still for collectives that all ranks had come to; None: likewise.
        kernels_ns: Kernels ran, by a window of the engine's tracer; None: there was none.
        contention_ns: The main thread could run and had no core, by samples between the first step and the last
            (estimated: it is in the other parts, too); None: threads were not sampled then.
    """

    train_ns: float
    input_ns: float | None
    wait_ns: float | None
    transfer_ns: float | None
    kernels_ns: float | None
    contention_ns: float | None


def of_run(ranked: RankedRun) -> TrainingParts | None:
    """The parts of a run; None where some rank's steps are not known.

    Args:
        ranked: The run; of a training of one process a run of one rank.
    """
    summary = ranks.of_run(ranked)
    if not summary.ranks or any(one.median_ns is None for one in summary.ranks):
        return None
    runs = {member.rank: member.run for member in ranked.members}

    def of_all(figure: Callable[[RankTimes], float | None]) -> float | None:
        """The mean over the ranks of a part of a step, times the steps."""
        values = [(one.steps, figure(one)) for one in summary.ranks]
        known = [steps * value for steps, value in values if value is not None]
        return mean(known) if len(known) == len(values) else None

    return TrainingParts(
        train_ns=of_all(lambda one: one.median_ns) or 0.0,
        input_ns=of_all(lambda one: one.input_ns),
        wait_ns=of_all(lambda one: one.collective_wait_ns),
        transfer_ns=of_all(lambda one: one.collective_transfer_ns),
        kernels_ns=of_all(lambda one: one.kernels_ns),
        contention_ns=of_all(lambda one: _contention(one, runs)),
    )


def _contention(one: RankTimes, runs: Mapping[int, Run]) -> float | None:
    """What of a median step the main thread waited for a core, if that is spread evenly over the training (ns)."""
    steps = steps_of(runs[one.rank].table("steps", ("loop", "start_ns", "dur_ns")), Loop.TRAIN)
    start = integers(steps["start_ns"])
    if not len(start) or one.median_ns is None:
        return None
    share = waiting_share(runs[one.rank], int(start.min()), int((start + integers(steps["dur_ns"])).max()))
    return None if share is None else share * one.median_ns
