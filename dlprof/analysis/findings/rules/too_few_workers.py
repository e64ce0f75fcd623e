"""The training waits for batches that more workers would make beside it."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import fixes, item_work, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Remedy, Sentence, Support
from dlprof.analysis.findings.input_load import InputLoad
from dlprof.analysis.findings.title import Title
from dlprof.analysis.loaders import OF_GLUON, OF_TORCH
from dlprof.analysis.samples import user_files
from dlprof.schema.vocabulary import Basis, Ground

_BY_NUMBER = (OF_TORCH, OF_GLUON)
"""Kinds of loaders that are told `num_workers`, and have processes then."""
TITLE = Title("The loader had too few workers", "batches that more workers would have made")
_BUSY = 0.75
"""Workers that rest more than this are not too few."""
_SURE = 0.8
"""Of what the model says: sending batches from process to process, and what cores share, is not in it."""
_LEAST = 0.10
"""Of the training that must be saved."""
_ROOM = 1.5
"""Cores that other programs must leave: one for the training, and some of one for workers."""
_USERS = 0.5
"""Of the work on batches that must be in code of the user's own, or called by it: what a library does with each row is
better done with whole batches."""


def look(case: Case) -> Iterator[Claim]:
    """All workers are busy, or there are none, and the training waits."""
    load = case.input
    if not load.waits or (load.pipeline.workers and 1 - load.resting_share() < _BUSY):
        return
    if _users_share(load) < _USERS or item_work.of_rows(case) is not None:  # what is needless is not to be shared out
        return
    processes = load.loader.kind in _BY_NUMBER or load.computes or load.loader.uses_processes
    if load.computes and not _has_room(load):
        return
    count = load.best_workers(processes=processes, least=_least(load))
    saved = min(load.waited_ns, load.loop_ns - load.loop_with(count, processes=processes))
    saved = int(saved * (_SURE if load.computes else 1.0))
    if saved < _LEAST * load.loop_ns or not _is_other(load, count, processes=processes):
        return
    yield Claim(
        Sentence(f"{_said(load)} {_advice(load, count, processes=processes)} would save about"),
        load.takes(saved),
        [queries.passes(), queries.workers()],
        f"{_change(load, count, processes=processes)}{_where(load)}.{_note(load)}{_shared(load)}",
        load.loader.place or load.item_line,
        _remedy(load, count, processes=processes),
        basis=Basis.ESTIMATED,
        support=Support(Ground.MODEL, seen=load.loader.items, agree=_users_share(load)),
    )


def _has_room(load: InputLoad) -> bool:
    """Whether other programs leave a core for workers that compute, beside that of the training."""
    try:
        others = load.machine.scheduling.others_pct / 100
    except Abstain:
        return True
    return load.cores - others >= _ROOM


def _least(load: InputLoad) -> int:
    """Keras makes batches beside the training from two workers on; with one, in the thread that asks."""
    return 1 if load.loader.kind in _BY_NUMBER else 2


def _users_share(load: InputLoad) -> float:
    """Share of the work on batches in which a line of the user's own stood, or called what did."""
    lines = load.pipeline.lines
    users = user_files(load.run)
    return sum(line.share for line in lines if line.file in users)


def _is_other(load: InputLoad, count: int, *, processes: bool) -> bool:
    """Whether that is another setting than the script's."""
    return count > load.loader.workers or processes != load.loader.uses_processes


def _said(load: InputLoad) -> str:
    loader, item = load.loader, load.item_line
    many = f"{loader.workers} worker{'s were' if loader.workers > 1 else ' was'} busy"
    who = many if loader.workers else "no worker"
    made = f" in {item[0]}:{item[1]}" if item else ""
    what = load.stages_text()
    return (
        f"{loader.called}, {who}: a batch takes {load.busy_ns / max(1, load.loader.items) / 1e6:.1f} ms of work{made}"
        f"{f' ({what})' if what else ''}{f', {load.kind}' if load.kind else ''};"
    )


def _advice(load: InputLoad, count: int, *, processes: bool) -> str:
    kind = "processes" if processes and load.loader.kind not in _BY_NUMBER else ""
    return f"{count} worker{'s' * (count > 1)}{f' as {kind}' if kind else ''} on {load.cores} cores"


def _change(load: InputLoad, count: int, *, processes: bool) -> str:
    if load.loader.kind == OF_TORCH:
        lasting = ", persistent_workers=True" if len(load.passes) > 1 else ""
        return f"DataLoader(..., num_workers={count}{lasting})"
    if load.loader.kind == OF_GLUON:
        return f"gluon.data.DataLoader(..., num_workers={count})"
    return f"{load.loader.kind}: workers={count}{', use_multiprocessing=True' if processes else ''}"


def _where(load: InputLoad) -> str:
    place = load.loader.place
    return f" at {place[0]}:{place[1]}" if place else ""


def _note(load: InputLoad) -> str:
    if not load.computes:
        return " Such work needs no core while it waits: more workers than cores are right."
    return " More workers than cores would not help: what is left is in the work on each batch itself."


def _shared(load: InputLoad) -> str:
    """What a script has to do besides for workers; empty: nothing."""
    return f" Of such workers, {fixes.GLUON_SHARES}." if load.loader.kind == OF_GLUON else ""


def _remedy(load: InputLoad, count: int, *, processes: bool) -> Remedy:
    file, line = load.loader.place or (None, None)
    settings: dict[str, object] = {"file": file, "line": line}
    if load.loader.kind in _BY_NUMBER:
        settings |= {"num_workers": count}
        if load.loader.kind == OF_TORCH and len(load.passes) > 1:
            settings |= {"persistent_workers": True}
    else:
        settings |= {"workers": count, "use_multiprocessing": processes}
    return Remedy(f"{count} worker{'s' * (count > 1)}", {}, {"loader": settings})
