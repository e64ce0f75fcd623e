"""TensorFlow's input pipeline is torn down after each epoch, and the training waits, idle, until its tuner wakes up.

tf.data tunes a running pipeline from a thread that sleeps twice as long after each look, from 10 ms on. Keras makes an
iterator anew for each epoch; dropping the old one waits until that thread is awake: up to as long as the epoch took.
Seen with TensorFlow 2.21 and Keras 3.15; without tuning the waits are gone.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Remedy

_WAIT_NS = 50_000_000
"""Shorter waits before an epoch are what making an iterator takes."""
_IDLE_PCT = 35.0
"""In percent of one core: a pipeline that fills its buffers, reads or decodes meanwhile uses more."""


def look(case: Case) -> Iterator[Claim]:
    """Waits before the first step of an epoch in which the process did nothing."""
    if case.backend != "tensorflow":
        raise Abstain("only the input pipelines of TensorFlow have such a tuner")
    waits = [(begin, end) for begin, end in _between_epochs(case) if end - begin > _WAIT_NS]
    busy = [case.busy_pct(begin, end) for begin, end in waits]
    if waits and all(one is None for one in busy):
        raise Abstain("what the process did before each epoch was not sampled")
    idle = [wait for wait, used in zip(waits, busy, strict=True) if used is not None and used < _IDLE_PCT]
    total = sum(end - begin for begin, end in idle)
    if not total:
        return
    yield Claim(
        f"Before {len(idle)} of {_epochs(case)} epochs the process did nothing, while TensorFlow took down the input "
        "pipeline of the epoch before: {time}, {share}.",
        {leaf: min(total, ns) for leaf, ns in case.takes("fit/input").items()},
        [
            (
                "wait before the first step of each epoch",
                "SELECT loop, epoch, start_ns, input_ns FROM steps WHERE step = 0 ORDER BY input_ns DESC LIMIT 8",
            ),
            (
                "what the process did over time",
                "SELECT time_ns, cpu_pct FROM process_samples ORDER BY time_ns",
            ),
        ],
        "Give fit a tf.data.Dataset whose options have autotune.enabled = False; or fewer and longer epochs, such as a "
        "dataset that repeats, with steps_per_epoch.",
        case.training_place,
        remedy=Remedy("tf.data's autotuning off", {}, {"autotune": False}),
    )


def _between_epochs(case: Case) -> list[tuple[int, int]]:
    """(begin, end) of the waits before the first step of each epoch but a loop's first (ns)."""
    table = case.run.table("steps")
    train = table.filter(pc.equal(table["loop"].cast(pa.string()), "train"))
    step, epoch, start, waited = (
        np.asarray(pc.fill_null(train[name], 0)) for name in ("step", "epoch", "start_ns", "input_ns")
    )
    chosen = (step == 0) & (epoch > 0)
    return [(int(at - ns), int(at)) for at, ns in zip(start[chosen], waited[chosen], strict=True)]


def _epochs(case: Case) -> int:
    return int(case.run.table("epochs").num_rows)
