"""The training waits for its next batch."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis import steps
from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Query, Sentence
from dlprof.analysis.findings.title import Title
from dlprof.schema.vocabulary import EDGES, Phase, StepPart, Tree, TreePath

TITLE = Title("The training waited for its input", "waiting for the input")
_SHARE_OF_LOOP = 0.10
"""Waiting for less than this share of the training is usual."""
_SHARE_OF_ARRAYS = 0.35
"""Cutting batches out of whole arrays costs Keras more than that only where steps are tiny: a cause of its own."""
_USERS = 0.2
"""Share of the waits in which code of the user's own must run to be behind them."""
_MOSTLY = 0.5
"""Share of the waits from which on the user's own code, on the calling thread, is what they are."""
_BETWEEN = 0.15
_WAITED = Tree.FIT_STEPS / StepPart.INPUT
_HIDDEN_IN = (StepPart.IDLE, StepPart.SYNC, StepPart.DISPATCH, StepPart.HOST_PYTHON, EDGES)
"""Parts of a step that may be waits for a batch, in the order in which they are."""
_WAITS = Query(
    "wait before each step, and the step itself",
    "SELECT loop, count(*) AS steps, median(input_ns) AS input_median_ns, sum(input_ns) AS input_ns, "
    "sum(dur_ns) AS step_ns FROM steps GROUP BY loop",
)


def look(case: Case) -> Iterator[Claim]:
    """Time between batches, waits inside the step, and what the script does between its own calls of a step."""
    takes = _in_loop(case)
    between = _between_own_steps(case)
    if not takes and not between:
        return
    takes.update(between)
    line = case.code.hottest_line([Tree.FIT_INPUT, Tree.FIT_STEPS], case.code.feeds, main=None)
    if between and line is None:
        line = case.code.hottest_line([Tree.SCRIPT])
    batch = case.training.batch_size if case.training else None
    yield Claim(
        Sentence(f"The training waits for its batches{f' of {batch}' if batch else ''}:"),
        takes,
        [_WAITS, queries.python_stood(Phase.FIT_INPUT, Phase.FIT_STEPS)],
        case.code.counting_note(line)
        + "Prepare batches beside the training (tf.data with num_parallel_calls and prefetch, PyDataset(workers=...), "
        "DataLoader(num_workers=...)), once before it, or with operations on whole arrays.",
        line,
    )


def _in_loop(case: Case) -> dict[TreePath, int]:
    """Waits in the loop of `fit`, by leaf (ns); empty where they are usual."""
    takes = {**case.takes(Tree.FIT_INPUT, share=_of_waits(case)), **case.takes(_WAITED)}
    for leaf, ns in _hidden(case).items():
        takes[leaf] = max(takes.get(leaf, 0), ns)
    loop = sum(case.own(path) for path in (Tree.FIT_INPUT, Tree.FIT_STEPS, Tree.FIT_WAIT, Tree.FIT_CALLBACKS))
    users = case.code.share([Tree.FIT_INPUT], case.code.feeds) > _USERS
    least = _SHARE_OF_ARRAYS if case.calls.feed_arrays and not users and not case.pair else _SHARE_OF_LOOP
    total = sum(takes.values())
    if total < least * loop:
        return {}
    if case.input_inside_step and not case.pair:
        # An iterator of the engine's own costs so much whatever it is fed with.
        unusual = max(0.0, 1 - _SHARE_OF_LOOP * loop / max(1, total))
        return {leaf: int(ns * unusual) for leaf, ns in takes.items()}
    return takes


def _of_waits(case: Case) -> float:
    """Share of the waits between steps that is for batches.

    Where the step itself fetches its batch, these are waits for a pipeline that is set up or taken down. Code of the
    user's own that makes batches all through the steps, but rests meanwhile, is not what is waited for. Where that code
    runs on the calling thread for most of the wait, the rest is what Keras does with every batch.
    """
    main = case.code.share([Tree.FIT_INPUT], case.code.feeds)
    if not case.input_inside_step:
        return main if main > _MOSTLY else 1.0
    if case.code.share([Tree.FIT_STEPS], case.code.feeds, main=False) < _USERS:
        return 1.0
    return max(main, case.code.share([Tree.FIT_INPUT], case.code.feeds, main=False))


def _hidden(case: Case) -> dict[TreePath, int]:
    """Waits inside the step that its parts do not show: samples of user code that makes batches meanwhile.

    TensorFlow fetches the batch inside the step, from threads of its own; the step waits for them where no kernel runs.
    """
    main = case.code.share([Tree.FIT_STEPS], case.code.feeds)
    beside = case.code.share([Tree.FIT_STEPS], case.code.feeds, main=False)
    whole = max(1, case.own(Tree.FIT_STEPS))
    kernels = case.own(Tree.FIT_STEPS / StepPart.KERNELS) / whole
    wanted = int(max(main, beside - kernels) * whole) - case.own(_WAITED)
    hidden = {}
    for part in _HIDDEN_IN:
        for leaf, ns in case.takes(Tree.FIT_STEPS / part).items():
            hidden[leaf] = max(0, min(ns, wanted))
            wanted -= hidden[leaf]
    return hidden


def _between_own_steps(case: Case) -> dict[TreePath, int]:
    """Time of the script between its calls of `train_on_batch`, but for what the engine computes beside it."""
    gaps, in_steps = steps.own_loop(case.run)
    total = min(gaps - case.tree.beside_script_ns, case.own(Tree.SCRIPT))
    if total < _BETWEEN * (total + in_steps):
        return {}
    return {Tree.SCRIPT: min(total, case.time(Tree.SCRIPT))}
