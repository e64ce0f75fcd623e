"""Evaluations and predictions of Keras (`evaluate`, `predict`) that wait for their batches.

Between its steps, where an engine is handed each batch; in the step, where that fetches it: there stacks tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dlprof.analysis import samples
from dlprof.analysis.columns import integers
from dlprof.analysis.findings import queries
from dlprof.analysis.findings.calls import Call
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.sampled_code import Chosen
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Phase, SpanKind

_TITLE = Title("An evaluation or a prediction waited for its input", "waiting for the input of an evaluation")
_KINDS = {SpanKind.EVALUATE: Tree.EVALUATE, SpanKind.PREDICT: Tree.PREDICT}
_ARRAYS = "ArrayDataAdapter"
"""What Keras cuts batches of whole arrays with: what that costs is its own."""
_USUAL = 0.20
"""Waiting for less than this share of the calls is usual."""
_SHARE_OF_WORK = 0.05
_USERS = 0.20
"""Share of the waits in which code of the user's own makes batches, for these to be what is waited for."""
_NEXT = (
    "Prepare them once and keep them, with operations on whole arrays, or beside the model: workers of the data set, "
    "map with num_parallel_calls, and prefetch."
)
_FIXES = {
    "PyDatasetAdapter": "super().__init__(workers=N, use_multiprocessing=True) in the data set",
    "TFDatasetAdapter": "dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)",
    "TorchDataLoaderAdapter": "DataLoader(..., num_workers=N, persistent_workers=True)",
}


@dataclass(frozen=True)
class _Waits:
    """Waits of the calls of one kind.

    Attributes:
        kind: The kind.
        path: Its time, in the tree.
        share: Of that time, for batches: 0 to 1.
        adapter: What Keras feeds the calls with; None: it did not say.
        calls: The calls.
    """

    kind: SpanKind
    path: TreePath
    share: float
    adapter: str | None
    calls: Sequence[Call]


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One for each kind of call that waits for a good part of its time."""
    for kind, path in _KINDS.items():
        found = _waits(case, kind, path) if case.code.samples else None
        takes = case.takes(path, share=found.share) if found is not None else {}
        if found is not None and sum(takes.values()) >= _SHARE_OF_WORK * case.work_ns:
            yield _claim(case, found, takes)


def _claim(case: Case, found: _Waits, takes: dict[TreePath, int]) -> Claim:
    line = case.code.hottest_line([found.path], _makes(case), main=None)
    return Claim(
        Sentence(f"{found.kind} waits for its batches, {100 * found.share:.0f} % of its time:"),
        takes,
        [queries.python_stood(Phase.EVALUATE, Phase.PREDICT)],
        f"{case.code.counting_note(line)}{_NEXT}",
        line or found.calls[0].line,
        title=_TITLE,
        support=case.code.support([found.path], samples.is_of_input, part=found.share, usual=_USUAL / 2),
        fix=_FIXES.get(found.adapter or ""),
    )


def _waits(case: Case, kind: SpanKind, path: TreePath) -> _Waits | None:
    calls = [call for call in case.calls.outside_fit(kind) if call.name == kind]
    seen = case.code.share([path], samples.is_of_input)
    adapters = {str(call.detail["adapter"]) for call in calls if "adapter" in call.detail}
    made = max(case.code.share([path], _makes(case), main=main) for main in (True, False))
    if not calls or (not adapters - {_ARRAYS} and made < _USERS * seen):
        return None
    share = seen if case.input_inside_step else _measured(case, path, calls)
    return _Waits(kind, path, share, next(iter(sorted(adapters - {_ARRAYS})), None), calls) if share >= _USUAL else None


def _measured(case: Case, path: TreePath, calls: Sequence[Call]) -> float:
    """Share of a phase that passed in front of the steps of some calls, for their batches."""
    numbers = np.array([call.number for call in calls], np.int64)
    steps = case.run.table("steps", ("loop_id", "input_ns"))
    mine = np.isin(integers(steps["loop_id"].fill_null(-1)), numbers)
    return min(1.0, int(integers(steps["input_ns"].fill_null(0))[mine].sum()) / max(1, case.own(path)))


def _makes(case: Case) -> Chosen:
    """Tells whether code of the user's own makes a batch: on the calling thread, or on another one."""
    feeds = case.code.feeds
    return lambda one: feeds(one) or (one.main and samples.is_of_input(one) and case.code.is_called_back(one))
