"""One worker of a loader is slower than the others, and all wait for it: batches come in turn."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.loaders import OF_TORCH
from dlprof.schema.vocabulary import Basis, Ground

TITLE = Title("One worker of the loader was slower than the others", "waiting for one slow worker")
_BUSY = 0.7
"""The slow one works nearly all the time ..."""
_OTHERS = 0.6
"""... and the others, which make as many batches, this share of that."""


def look(case: Case) -> Iterator[Claim]:
    """One worker is always busy, the others rest, and the training waits."""
    load = case.input
    loader = load.loader
    if loader.kind != OF_TORCH or loader.workers < 2 or not load.waits:
        return
    shares = load.busy_shares()
    slow = max(range(len(shares)), key=lambda number: shares[number])
    others = [share for number, share in enumerate(shares) if number != slow]
    if shares[slow] < _BUSY or median(others) > _OTHERS * shares[slow]:
        return
    mean = sum(shares) / len(shares)
    lines = load.pipeline.workers[slow].lines
    yield Claim(
        Sentence(
            f"Worker {slow} of the {loader.called} was busy for {100 * shares[slow]:.0f} % of its time, the others for "
            f"{100 * median(others):.0f} %, with as many batches each: the training waited for it"
        ),
        load.takes(load.waited_ns * (1 - mean / shares[slow])),
        [queries.workers(), queries.passes()],
        "Look at what this worker does besides or otherwise: its part of the data (a larger or slower file, "
        "worker_init_fn, get_worker_info().id), and share the work evenly.",
        (lines[0].file, lines[0].line) if lines else loader.place,
        basis=Basis.ESTIMATED,
        support=Support(Ground.MODEL, seen=loader.items, agree=1 - median(others) / shares[slow]),
    )
