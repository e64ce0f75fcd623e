"""A data set that keeps what it has made in worker processes which end with each pass: it is made anew in the next."""

from __future__ import annotations

from dlprof.analysis import source_kept
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.chores import Chore
from dlprof.analysis.findings.finding import Abstain, SourceLine
from dlprof.analysis.findings.title import Title
from dlprof.analysis.loaders import OF_TORCH

LOST = Chore(
    "Workers that end with each pass lose what the data set keeps",
    Title("Workers lost what the data set keeps", "making again what workers have lost"),
    "What a worker keeps no later pass finds. Have the workers last: each of them then keeps what it was asked for; or "
    "make all items before the loader is iterated, and the workers have them from the start.",
    "DataLoader(..., persistent_workers=True), or fill what the data set keeps in its __init__",
)
_AS_LONG = 0.7
"""Of the waits of the first pass: where a later one finds what the first has made, it waits for less."""


def line(case: Case) -> SourceLine | None:
    """Where the data set of the training's loader keeps what is lost; None: nowhere, or it is not lost."""
    try:
        load = case.input
    except Abstain:
        return None
    loader, passes = load.loader, load.passes
    if not (loader.workers and loader.uses_processes and loader.dataset and loader.kind == OF_TORCH):
        return None
    if loader.persistent or len(passes) < 2 or passes[-1].waited_ns < _AS_LONG * passes[0].waited_ns:
        return None
    for file in sorted(case.code.user_files):
        found = source_kept.line_of(case.code.lines(file), loader.dataset.rpartition(".")[2])
        if found is not None:
            return file, found
    return None
