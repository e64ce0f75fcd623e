"""More workers than cores, or than there is work for: starting and stopping them costs more than they save."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Remedy, Sentence, Support
from dlprof.analysis.findings.input_load import InputLoad
from dlprof.analysis.findings.title import Title
from dlprof.analysis.loaders import OF_TORCH
from dlprof.schema.vocabulary import Basis, Ground

TITLE = Title("The loader had too many workers", "starting and stopping workers that were not needed")
_FACTOR = 1.5
"""Fewer workers beyond what is needed do little harm."""


def look(case: Case) -> Iterator[Claim]:
    """Workers that compute and are more than the cores, or that are more than the training needs."""
    load = case.input
    loader = load.loader
    if loader.kind != OF_TORCH or loader.workers < 2:
        return
    enough = _enough(load)
    if loader.workers < _FACTOR * enough:
        return
    extra = (loader.workers - enough) / loader.workers
    lasting = 0 if loader.persistent else load.calls_of_restarts_ns()
    # Of two remedies for the same time the one that saves more has it: workers that last, or fewer of them.
    costs = load.starts_ns - (lasting if lasting > extra * load.starts_ns else 0)
    if load.computes and enough >= load.cores:  # as many batches at once on fewer cores: the first one comes late
        costs += load.first_waits_ns
    yield Claim(
        Sentence(
            f"{loader.called} has {loader.workers} workers, whose work {_why(load)}; {enough} would do. Starting and "
            f"stopping them {len(load.passes)} times, and the first batch of each pass, take"
        ),
        case.spent(int(extra * costs)),
        [queries.passes(), queries.workers()],
        f"DataLoader(..., num_workers={enough}{', persistent_workers=True' if len(load.passes) > 1 else ''}).",
        loader.place or load.item_line,
        Remedy(f"{enough} worker{'s' * (enough > 1)}", {}, {"loader": {**_place(load), "num_workers": enough}}),
        basis=Basis.ESTIMATED,
        support=Support(Ground.MODEL, seen=len(load.passes)),
    )


def _enough(load: InputLoad) -> int:
    needed = load.needed_workers()
    return min(needed, load.cores) if load.computes else needed


def _why(load: InputLoad) -> str:
    if load.computes:
        return f"computes, on {load.cores} cores"
    return f"takes {load.work_ns / 1e9:.1f} s in all, beside {load.rest_ns / 1e9:.1f} s of steps"


def _place(load: InputLoad) -> dict[str, object]:
    file, line = load.loader.place or (None, None)
    return {"file": file, "line": line}
