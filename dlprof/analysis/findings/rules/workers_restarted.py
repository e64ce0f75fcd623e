"""The workers of a loader are made anew for each epoch."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Remedy, Sentence, Support
from dlprof.analysis.findings.input_load import InputLoad
from dlprof.analysis.findings.title import Title
from dlprof.analysis.loaders import OF_TORCH
from dlprof.schema.vocabulary import Ground

TITLE = Title("Workers were started anew for each epoch", "starting and stopping workers")


def look(case: Case) -> Iterator[Claim]:
    """Passes begin with a start of workers, and end with their end."""
    load = case.input
    loader = load.loader
    if not loader.workers or loader.persistent or len(load.passes) < 2:
        return
    count = len(loader.processes) if loader.uses_processes and loader.processes else None
    made = f"{count} processes" if count else f"{loader.workers} {'processes' if loader.uses_processes else 'threads'}"
    yield Claim(
        Sentence(
            f"{loader.called} made its {loader.workers} workers anew for each of {len(load.passes)} passes ({made}): "
            "starting and stopping them held the training up for"
        ),
        case.spent(load.restarts_ns()),
        [queries.passes(), queries.workers()],
        _next_step(load),
        loader.place,
        _remedy(load),
        support=Support(Ground.REPEATED, seen=len(load.passes)),
    )


def _next_step(load: InputLoad) -> str:
    if load.loader.kind == OF_TORCH:
        return "DataLoader(..., persistent_workers=True) keeps them from one epoch to the next."
    return (
        "Keras starts and stops them around each epoch: fewer and longer ones need that less often, such as a data set "
        "without an end (num_batches None) with steps_per_epoch; or fewer workers, where they are not needed."
    )


def _remedy(load: InputLoad) -> Remedy | None:
    if load.loader.kind != OF_TORCH:
        return None
    file, line = load.loader.place or (None, None)
    return Remedy("workers that last", {}, {"loader": {"file": file, "line": line, "persistent_workers": True}})
