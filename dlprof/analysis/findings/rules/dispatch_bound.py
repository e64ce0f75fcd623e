"""Steps or kernels are so small that starting them takes longer than computing."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Remedy

_SMALL_BATCH = 32
_SHARE = 0.35
"""Share of the steps in which something else than a kernel of the model ran."""
_STEPS = 50


def look(case: Case) -> Iterator[Claim]:
    """A small batch with much time around the kernels; in a pair, what starting work takes more."""
    if case.loop is None or case.tree.steps is None:
        raise Abstain("the run had no steps")
    if case.tree.unsplit is not None and not _tiny(case):
        raise Abstain(f"the steps are not split: {case.tree.unsplit}")
    root = case.tree.steps
    overhead = case.takes(*(f"{root}/{name}" for name in ("dispatch", "host_python", "idle", "sync", "edges")))
    if root == "fit/steps":
        overhead.update(case.takes("fit/input", "fit/callbacks"))
    updates = _updates(case)
    whole = case.own(root) or 1
    batch = case.training.batch_size if case.training else None
    if case.pair:
        if sum(overhead.values()) < 0.03 * case.whole_ns:
            return
        takes = overhead
    else:
        share = (sum(overhead.values()) + sum(updates.values())) / whole
        if not _tiny(case) or share < _SHARE or case.loop.count < _STEPS:
            return
        saved = 1 - (batch or 1) / (4 * _SMALL_BATCH)
        takes = {leaf: int(ns * saved) for leaf, ns in _merged(overhead, updates).items()}
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


def _remedy(case: Case, batch: int | None) -> Remedy | None:
    if (
        case.backend in ("tensorflow", "jax")
        and case.training
        and case.training.settings.get("steps_per_execution") == 1
    ):
        return Remedy("16 steps per execution", {}, {"steps_per_execution": 16})
    return Remedy("batch size 128", {}, {"batch_size": 128}) if batch and batch < _SMALL_BATCH else None


def _tiny(case: Case) -> bool:
    batch = case.training.batch_size if case.training else None
    samples = case.run.table("steps")["samples"].drop_null().to_pylist()
    usual = batch or (sorted(samples)[len(samples) // 2] if samples else None)
    return usual is not None and usual < _SMALL_BATCH


def _updates(case: Case) -> dict[str, int]:
    """Kernels that run once a step whatever the batch is: those that update weights."""
    found: dict[str, int] = {}
    for one in case.tree.layers:
        if one.direction == "update" or one.category == "optimiser":
            leaf = f"{case.tree.steps}/kernels/{(one.category or 'other').replace(' ', '_')}"
            found[leaf] = found.get(leaf, 0) + one.ns
    return found


def _merged(*parts: dict[str, int]) -> dict[str, int]:
    return {leaf: sum(part.get(leaf, 0) for part in parts) for part in parts for leaf in part}
