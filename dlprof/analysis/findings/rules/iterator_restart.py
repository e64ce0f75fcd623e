"""TensorFlow's input pipeline is torn down after each epoch, and the training waits, idle, until its tuner wakes up.

tf.data tunes a running pipeline from a thread that sleeps twice as long after each look, from 10 ms on. Keras makes an
iterator anew for each epoch; dropping the old one waits until that thread is awake: up to as long as the epoch took.
Seen with TensorFlow 2.21 and Keras 3.15; without tuning the waits are gone.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import integers, steps_of
from dlprof.analysis.findings.calls import Interval
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Remedy, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Ground, Loop

TITLE = Title("TensorFlow stood still between epochs", "standing still between epochs")
_WAIT_NS = 50_000_000
"""Shorter waits before an epoch are what making an iterator takes."""
_IDLE_PCT = 35.0
"""In percent of one core: a pipeline that fills its buffers, reads or decodes meanwhile uses more."""
_EVIDENCE = (
    Query(
        "wait before the first step of each epoch",
        "SELECT loop, epoch + 1 AS epoch, start_ns, input_ns FROM steps WHERE step = 0 ORDER BY input_ns DESC LIMIT 8",
    ),
    Query("what the process did over time", "SELECT time_ns, cpu_pct FROM process_samples ORDER BY time_ns"),
)


def look(case: Case) -> Iterator[Claim]:
    """Waits before the first step of an epoch in which the process did nothing."""
    if not case.engine.tunes_input:
        raise Abstain("only the input pipelines of TensorFlow have such a tuner")
    waits = [(begin, end) for begin, end in _between_epochs(case) if end - begin > _WAIT_NS]
    busy = [case.machine.busy_pct(wait) for wait in waits]
    if waits and all(pct is None for pct in busy):
        raise Abstain("what the process did before each epoch was not sampled")
    idle = [wait for wait, pct in zip(waits, busy, strict=True) if pct is not None and pct < _IDLE_PCT]
    total = sum(end - begin for begin, end in idle)
    if not total:
        return
    yield Claim(
        Sentence(
            f"Before {len(idle)} of {case.run.table('epochs').num_rows} epochs the process did nothing, while "
            "TensorFlow took down the input pipeline of the epoch before:"
        ),
        {leaf: min(total, ns) for leaf, ns in case.takes(Tree.FIT_INPUT).items()},
        _EVIDENCE,
        "Give fit a tf.data.Dataset whose options have autotune.enabled = False; or fewer and longer epochs, such as a "
        "dataset that repeats, with steps_per_epoch.",
        case.training_line,
        Remedy("tf.data's autotuning off", {}, {"autotune": False}),
        support=Support(Ground.PLACE, seen=len(idle)),
    )


def _between_epochs(case: Case) -> list[Interval]:
    """The waits before the first step of each epoch but a loop's first."""
    columns = ("loop", "step", "epoch", "start_ns", "input_ns")
    first = steps_of(case.run.filtered("steps", columns, _begins_later_epoch), Loop.TRAIN)
    start, waited = integers(first["start_ns"]).tolist(), integers(first["input_ns"]).tolist()
    return [(at - ns, at) for at, ns in zip(start, waited, strict=True)]


def _begins_later_epoch(steps: pa.Table) -> pa.ChunkedArray:
    return pc.and_(pc.equal(pc.fill_null(steps["step"], 0), 0), pc.greater(steps["epoch"], 0))
