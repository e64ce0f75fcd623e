"""Workers rest while the training waits: batches take unlike long to make, and too few are made ahead."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Remedy, Sentence, Support
from dlprof.analysis.findings.input_load import InputLoad
from dlprof.analysis.findings.title import Title
from dlprof.analysis.loaders import OF_GLUON, OF_TORCH
from dlprof.schema.vocabulary import Basis, Ground

TITLE = Title("The loader made too few batches ahead", "waits that a longer queue would have bridged")
_RESTING = 0.25
"""Share of their time for which workers must have had nothing to do."""
_SURE = 0.6
"""Of the waits that a queue can bridge: how long it must be is not known."""
_LEAST = 0.05
"""Of the training that must be at stake."""
_LONGER = 4


def look(case: Case) -> Iterator[Claim]:
    """Few steps wait for long, most do not wait, and the workers rest meanwhile."""
    load = case.input
    loader = load.loader
    if not loader.workers or not loader.queue or not load.waits or load.resting_share() < _RESTING:
        return
    short = max(0, load.work_ns // loader.workers - load.rest_ns)
    bridged = load.bursts_ns(case.phases.training_steps.waited) - short
    if bridged < _LEAST * load.loop_ns:
        return
    yield Claim(
        Sentence(
            f"{loader.called} makes {loader.queue} batches ahead{' for each worker' * loader.queue_per_worker}, and "
            f"its {loader.workers} workers rested for {100 * load.resting_share():.0f} % of their time, while some "
            "steps waited for a batch that took long: a longer queue would save about"
        ),
        load.takes(_SURE * bridged),
        [queries.waits_by_step(), queries.workers()],
        f"{_argument(load)}={_LONGER * loader.queue}; or make what takes long in few batches take as long in each.",
        loader.place or load.item_line,
        _remedy(load),
        basis=Basis.ESTIMATED,
        support=Support(Ground.MODEL, seen=loader.items, agree=_SURE),
    )


def _argument(load: InputLoad) -> str:
    return {OF_TORCH: "prefetch_factor", OF_GLUON: "prefetch"}.get(load.loader.kind, "max_queue_size")


def _remedy(load: InputLoad) -> Remedy:
    file, line = load.loader.place or (None, None)
    longer = _LONGER * (load.loader.queue or 1)
    settings = {"file": file, "line": line, _argument(load): longer}
    return Remedy(f"a queue of {longer}", {}, {"loader": settings})
