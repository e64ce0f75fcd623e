"""The training waits for its next batch."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis import steps
from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim

_SHARE_OF_LOOP = 0.10
"""Waiting for less than this share of the training is usual."""
_SHARE_OF_ARRAYS = 0.35
"""Cutting batches out of whole arrays costs Keras more than that only where steps are tiny: a cause of its own."""
_USERS = 0.2
"""Share of the waits in which code of the user's own must run to be behind them."""
_MOSTLY = 0.5
"""Share of the waits from which on the user's own code, on the calling thread, is what they are."""
_BETWEEN = 0.15


def look(case: Case) -> Iterator[Claim]:
    """Time between batches, waits inside the step, and what the script does between its own calls of a step."""
    takes = {**case.takes("fit/input", share=_of_waits(case)), **case.takes("fit/steps/input")}
    for leaf, ns in _hidden(case).items():
        takes[leaf] = max(takes.get(leaf, 0), ns)
    loop = sum(case.own(path) for path in ("fit/input", "fit/steps", "fit/callbacks"))
    users = case.sampled(("fit/input",), case.feeds) > _USERS
    share = _SHARE_OF_ARRAYS if case.feeds_arrays and not users and not case.pair else _SHARE_OF_LOOP
    if sum(takes.values()) < share * loop:
        takes = {}
    elif case.run.manifest.backend.input_inside_step and not case.pair:
        # TensorFlow's own iterator costs so much whatever it is fed with.
        usual = max(0.0, 1 - _SHARE_OF_LOOP * loop / max(1, sum(takes.values())))
        takes = {leaf: int(ns * usual) for leaf, ns in takes.items()}
    between = _between_own_steps(case)
    if not takes and not between:
        return
    takes.update(between)
    place = case.hottest_user_line(("fit/input", "fit/steps"), case.feeds, main=None)
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
        "DataLoader(num_workers=...)), once before it, or with operations on whole arrays."
        + (case.counting_note if place else ""),
        place,
    )


def _of_waits(case: Case) -> float:
    """Share of the waits between steps that is for batches.

    Where the step itself fetches its batch, these are waits for a pipeline that is set up or taken down. Code of the
    user's own that makes batches all through the steps, but rests meanwhile, is not what is waited for. Where that code
    runs on the calling thread for most of the wait, the rest is what Keras does with every batch.
    """
    main = case.sampled(("fit/input",), case.feeds)
    if not case.run.manifest.backend.input_inside_step:
        return main if main > _MOSTLY else 1.0
    if case.sampled(("fit/steps",), case.feeds, main=False) < _USERS:
        return 1.0
    return max(main, case.sampled(("fit/input",), case.feeds, main=False))


def _hidden(case: Case) -> dict[str, int]:
    """Waits inside the step that its parts do not show: samples of user code that makes batches meanwhile.

    TensorFlow fetches the batch inside the step, from threads of its own; the step waits for them where no kernel runs.
    """
    main = case.sampled(("fit/steps",), case.feeds)
    beside = case.sampled(("fit/steps",), case.feeds, main=False)
    steps = max(1, case.own("fit/steps"))
    wanted = int(max(main, beside - case.own("fit/steps/kernels") / steps) * steps) - case.own("fit/steps/input")
    found = {}
    for name in ("idle", "sync", "dispatch", "host_python", "edges"):
        for leaf, ns in case.takes(f"fit/steps/{name}").items():
            found[leaf] = max(0, min(ns, wanted))
            wanted -= found[leaf]
    return found


def _between_own_steps(case: Case) -> dict[str, int]:
    """Time of the script between its calls of `train_on_batch`, but for what the engine computes beside it."""
    gaps, in_steps = steps.own_loop(case.run)
    total = min(gaps - case.tree.beside_script_ns, case.own("script"))
    if total < _BETWEEN * (total + in_steps):
        return {}
    return {"script": min(total, case.time("script"))}
