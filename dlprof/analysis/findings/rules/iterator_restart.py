"""TensorFlow's input pipeline is torn down after each epoch, and the training waits, idle, until its tuner wakes up.

tf.data tunes a running pipeline from a thread that sleeps twice as long after each look, from 10 ms on. Keras makes an
iterator anew for each epoch, and so does each `for` over a data set; dropping the old one waits until that thread is
awake: up to as long as the epoch took. At the end of a loop of the script's own that is time of the script.
Seen with TensorFlow 2.21 and Keras 3.15; without tuning the waits are gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import loops
from dlprof.analysis.columns import Integers, integers, steps_of
from dlprof.analysis.findings import queries
from dlprof.analysis.findings.calls import Interval
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Remedy, Sentence, Support
from dlprof.analysis.findings.sampled_code import Chosen
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Ground, Loop, Phase

TITLE = Title("TensorFlow stood still between epochs", "standing still between epochs")
_BEHIND = Title("TensorFlow stood still behind the loop", "standing still behind the loop")
_WAIT_NS = 50_000_000
"""Shorter waits before an epoch are what making an iterator takes."""
_IDLE_PCT = 35.0
"""In percent of one core: a pipeline that fills its buffers, reads or decodes meanwhile uses more.

Of the cores that the process gets: where other programs have them, one that works uses as little.
"""
_USE = Query("what the process did over time", "SELECT time_ns, cpu_pct FROM process_samples ORDER BY time_ns")
_EVIDENCE = (
    Query(
        "wait before the first step of each epoch",
        "SELECT loop, epoch + 1 AS epoch, start_ns, input_ns FROM steps WHERE step = 0 ORDER BY input_ns DESC LIMIT 8",
    ),
    _USE,
)


def look(case: Case) -> Iterator[Claim]:
    """Waits before the first step of an epoch, and behind a loop, in which the process did nothing."""
    if not case.engine.tunes_input:
        raise Abstain("only the input pipelines of TensorFlow have such a tuner")
    yield from _between(case)
    yield from _behind(case)


def _between(case: Case) -> Iterator[Claim]:
    waits = [(begin, end) for begin, end in _between_epochs(case) if end - begin > _WAIT_NS]
    idle = _idle(case, waits)
    total = sum(end - begin for begin, end in idle)
    if not total:
        return
    of_keras = loops.are_all_of_keras(case.run)
    takes = {leaf: min(total, ns) for leaf, ns in case.takes(Tree.FIT_INPUT).items()}
    yield Claim(
        Sentence(
            f"Before {len(idle)} of {case.run.row_count('epochs')} epochs the process did nothing, while "
            "TensorFlow took down the input pipeline of the epoch before:"
        ),
        takes if of_keras else case.spent(total),
        _EVIDENCE,
        _ADVICE if of_keras else _ADVICE_BY_HAND,
        case.training_line,
        Remedy("tf.data's autotuning off", {}, {"autotune": False}) if of_keras else None,
        support=Support(Ground.PLACE, seen=len(idle)),
        fix=None if of_keras else _OPTIONS,
    )


def taken_down(case: Case) -> Chosen | None:
    """The stacks of the script that stand in the line of a loop of its own whose last step is over; None: none do so.

    The iterator goes with the loop, and the process does nothing meanwhile.
    """
    line = case.training_line
    if not case.engine.tunes_input or loops.are_all_of_keras(case.run) or line is None:
        return None

    def chosen(sample: Sample) -> bool:
        return (sample.frames[0].file, sample.frames[0].line) == line  # nothing of Python runs above it

    ended, total = _ends_of_steps(case), sum(_behind_the_loop(case, chosen).values())
    if not len(ended) or total <= _WAIT_NS or not _idle(case, [(int(ended[-1]), int(ended[-1]) + total)]):
        return None
    return chosen


def _behind_the_loop(case: Case, chosen: Chosen) -> dict[TreePath, int]:
    return case.takes(Tree.SCRIPT, share=case.code.share((Tree.SCRIPT,), chosen))


def _behind(case: Case) -> Iterator[Claim]:
    chosen = taken_down(case)
    if chosen is None:
        return
    yield Claim(
        Sentence("Behind the training loop the process did nothing, while TensorFlow took down its input pipeline:"),
        _behind_the_loop(case, chosen),
        [_USE, queries.python_stood(Phase.SCRIPT)],
        _ADVICE_BY_HAND,
        case.training_line,
        support=case.code.support((Tree.SCRIPT,), chosen, ground=Ground.REPEATED),
        fix=_OPTIONS,
        title=_BEHIND,
    )


def _idle(case: Case, waits: Sequence[Interval]) -> Sequence[Interval]:
    """Those in which the process did nothing: all of them, where it did nothing in all together.

    A wait may be as short as a sample, which then holds work from before it or from after it, too.

    Raises:
        Abstain: What it did was not sampled.
    """
    together = case.machine.busy_pct_together(waits)
    if waits and together is None:
        raise Abstain("what the process did before each epoch was not sampled")
    most = _IDLE_PCT * case.machine.with_a_core
    if together is not None and together < most:
        return waits
    busy = [case.machine.busy_pct(wait) for wait in waits]
    return [wait for wait, pct in zip(waits, busy, strict=True) if pct is not None and pct < most]


_ADVICE = (
    "Give fit a tf.data.Dataset whose options have autotune.enabled = False; or fewer and longer epochs, such as a "
    "dataset that repeats, with steps_per_epoch."
)
_ADVICE_BY_HAND = (
    "Take a dataset whose options have autotune.enabled = False; or fewer and longer epochs, such as one loop over a "
    "dataset that repeats."
)
_OPTIONS = "options = tf.data.Options(); options.autotune.enabled = False; dataset = dataset.with_options(options)"


def _between_epochs(case: Case) -> list[Interval]:
    """The waits before the first step of each epoch but a loop's first.

    In a loop of the script's own the iterator is dropped before a batch is asked of the next one.
    """
    columns = ("loop", "step", "epoch", "start_ns", "input_ns")
    first = steps_of(case.run.filtered("steps", columns, _begins_later_epoch), Loop.TRAIN)
    start = integers(first["start_ns"])
    asked = start - integers(first["input_ns"])
    if loops.are_all_of_keras(case.run):
        return list(zip(asked.tolist(), start.tolist(), strict=True))
    ended = _ends_of_steps(case)
    before = np.searchsorted(ended, asked, "right") - 1
    return list(zip(ended[before[before >= 0]].tolist(), asked[before >= 0].tolist(), strict=True))


def _ends_of_steps(case: Case) -> Integers:
    """When the steps of the training ended, in order (ns)."""
    ends = [np.empty(0, np.int64)]
    for piece in case.run.pieces("steps", ("loop", "start_ns", "dur_ns")):
        rows = steps_of(piece, Loop.TRAIN)
        ends.append(integers(rows["start_ns"]) + integers(rows["dur_ns"]))
    return np.sort(np.concatenate(ends))


def _begins_later_epoch(steps: pa.Table) -> pa.ChunkedArray:
    return pc.and_(pc.equal(pc.fill_null(steps["step"], 0), 0), pc.greater(steps["epoch"], 0))
