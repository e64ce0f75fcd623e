"""Steps or kernels are so small that starting them takes longer than computing."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Remedy

_LARGE_BATCH = 128
_SHARE = 0.50
"""Share of the steps that costs the same whatever their size: no kernel ran, or one that updates weights."""
_SHARE_OF_LARGE = 0.75
"""Share of the steps in which no kernel ran, where the batch is large already."""
_GAIN_OF_LARGE = 0.5
_STEPS = 50


def look(case: Case) -> Iterator[Claim]:
    """Steps with little time in kernels; in a pair, what starting work takes more."""
    if case.loop is None or case.tree.steps is None:
        raise Abstain("the run had no steps")
    if case.tree.unsplit is not None:
        raise Abstain(f"the steps are not split: {case.tree.unsplit}")
    root = case.tree.steps
    overhead = case.takes(*(f"{root}/{name}" for name in ("dispatch", "host_python", "idle", "sync", "edges")))
    if root == "fit/steps" and case.feeds_arrays:
        overhead.update(case.takes("fit/input", "fit/steps/input"))
        overhead.update(case.takes("fit/callbacks", share=_of_keras(case)))
    batch = _batch(case)
    if case.pair:
        if sum(overhead.values()) < 0.03 * case.whole_ns:
            return
        takes = overhead
    else:
        updates = _updates(case)
        gain = _gain(case, sum(overhead.values()), sum(updates.values()), batch)
        if not gain or case.loop.count < _STEPS:
            return
        takes = {leaf: int(ns * gain) for leaf, ns in _merged(overhead, updates).items()}
    step = case.loop.median_ns or 0
    yield Claim(
        f"{case.loop.count:,} steps{f' of {batch} samples' if batch else ''} of {step / 1e6:.2f} ms: starting the work "
        "of a step takes longer than it should, {time}, {share}.",
        takes,
        [
            (
                "steps",
                "SELECT loop, count(*) AS steps, median(dur_ns) AS step_ns, median(call_ns) AS call_ns, max(samples) "
                "AS samples FROM steps GROUP BY loop",
            ),
            (
                "kernels of a window",
                "SELECT count(*) AS kernels, sum(self_ns) AS total_ns, median(self_ns) AS median_ns "
                "FROM kernels WHERE kind IN ('kernel', 'operator')",
            ),
        ],
        "Use a larger batch, or steps_per_execution, so that each start has more to do.",
        remedy=_remedy(case, batch),
        basis="estimated",
    )


def _of_keras(case: Case) -> float:
    """Share of the callbacks that Keras has at every step: without saves and evaluations."""
    spans = [row for row in case.spans if row["kind"] in ("save", "evaluate", "predict")]
    apart = case.by_phase((row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in spans).get("fit/callbacks", 0)
    return max(0.0, 1 - apart / max(1, case.host("fit/callbacks")))


def _gain(case: Case, overhead: int, updates: int, batch: int | None) -> float:
    """Share of what a step costs whatever its size that larger batches would save; 0: steps are full of kernels."""
    whole = max(1, overhead + case.own(f"{case.tree.steps}/kernels"))
    if batch is not None and batch < _LARGE_BATCH:
        return 1 - batch / _LARGE_BATCH if (overhead + updates) / whole >= _SHARE else 0.0
    return _GAIN_OF_LARGE if overhead / whole >= _SHARE_OF_LARGE else 0.0


def _remedy(case: Case, batch: int | None) -> Remedy | None:
    if (
        case.backend in ("tensorflow", "jax")
        and case.training
        and case.training.settings.get("steps_per_execution") == 1
    ):
        return Remedy("16 steps per execution", {}, {"steps_per_execution": 16})
    return Remedy("batch size 128", {}, {"batch_size": _LARGE_BATCH}) if batch and batch < _LARGE_BATCH else None


def _batch(case: Case) -> int | None:
    """Samples of a usual step."""
    samples = sorted(case.run.table("steps")["samples"].drop_null().to_pylist())
    told = case.training.batch_size if case.training else None
    return told or (samples[len(samples) // 2] if samples else None)


def _updates(case: Case) -> dict[str, int]:
    """Kernels that run once a step whatever the batch is: those that update weights."""
    found: dict[str, int] = {}
    for one in case.tree.layers:
        if one.direction == "update" or one.category == "optimiser":
            leaf = case.tree.kernels_leaf(one.category)
            found[leaf] = found.get(leaf, 0) + one.ns
    return found


def _merged(*parts: dict[str, int]) -> dict[str, int]:
    return {leaf: sum(part.get(leaf, 0) for part in parts) for part in parts for leaf in part}
