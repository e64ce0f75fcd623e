"""The training waits for its next batch."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case, Sample
from dlprof.analysis.findings.finding import Claim

_SHARE_OF_LOOP = 0.10
"""Waiting for less than this share of the training is usual."""
_BETWEEN = 0.15


def look(case: Case) -> Iterator[Claim]:
    """Time between batches, waits inside the step, and what the script does between its own calls of a step."""
    takes = case.takes("fit/input", "fit/steps/input")
    takes.update(_hidden(case))
    loop = sum(case.own(path) for path in ("fit/input", "fit/steps", "fit/callbacks"))
    total = sum(takes.values())
    if total < _SHARE_OF_LOOP * loop or (not case.pair and not total):
        takes = {}
    between = _between_own_steps(case)
    if not takes and not between:
        return
    takes.update(between)
    place = case.hottest_user_line(("fit/input", "fit/steps"), lambda one: _feeds(case, one), main=None)
    if between and place is None:
        place = case.hottest_user_line(("script",))
    batch = case.training.batch_size if case.training else None
    yield Claim(
        f"The training waits for its batches{f' of {batch}' if batch else ''}: {{time}}, {{share}}.",
        takes,
        [
            (
                "wait before each step, and the step itself",
                "SELECT loop, count(*) AS steps, median(input_ns) AS input_median_ns, sum(input_ns) AS input_ns, "
                "sum(dur_ns) AS step_ns FROM steps GROUP BY loop",
            ),
            queries.python_stood("fit.input", "fit.steps"),
        ],
        "Prepare batches beside the training (tf.data with num_parallel_calls and prefetch, PyDataset(workers=...), "
        "DataLoader(num_workers=...)), once before it, or with operations on whole arrays.",
        place,
    )


def _feeds(case: Case, sample: Sample) -> bool:
    """Whether user code runs that was called to make a batch: all but callbacks, between steps or on other threads."""
    return case.is_called_back(sample) and (sample.phase == "fit/input" or not sample.main)


def _hidden(case: Case) -> dict[str, int]:
    """Waits inside the step that no window saw: the step's call waits while a thread of the input pipeline works.

    TensorFlow fetches the batch inside the step. Where its windows did not tell these waits apart, time in which user
    code on another thread made batches while the main thread stood in the step is such a wait, less the kernels.
    """
    if not case.run.manifest["backend"].get("input_inside_step") or not case.samples:
        return {}
    share = case.sampled(("fit/steps",), case.is_called_back, main=False)
    seen = case.own("fit/steps/input") / max(1, case.own("fit/steps"))
    more = share - seen - case.own("fit/steps/kernels") / max(1, case.own("fit/steps"))
    if more < _SHARE_OF_LOOP:
        return {}
    return case.takes("fit/steps/idle", "fit/steps/dispatch", "fit/steps/edges", "fit/steps/host_python", share=1.0)


def _between_own_steps(case: Case) -> dict[str, int]:
    """Time of the script between calls of `train_on_batch`, where the thread mostly waited or made batches."""
    steps = case.run.table("steps")
    loops = {row["span_id"] for row in case.spans if row["kind"] == "on_batch" and row["name"] == "train_on_batch"}
    inside = np.isin(np.asarray(steps["loop_id"]), list(loops)) if loops else np.zeros(steps.num_rows, bool)
    if inside.sum() < 3:
        return {}
    start, end = (
        np.asarray(steps["start_ns"])[inside],
        (np.asarray(steps["start_ns"]) + np.asarray(steps["dur_ns"]))[inside],
    )
    order = np.argsort(start)
    gaps = np.maximum(0, start[order][1:] - end[order][:-1])
    total = min(int(gaps.sum()), case.own("script"))
    if total < _BETWEEN * (total + int((end - start).sum())):
        return {}
    return {"script": min(total, case.time("script"))}
