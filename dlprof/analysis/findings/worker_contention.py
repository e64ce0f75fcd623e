"""What steps take longer because the workers that make their batches have cores that they could use themselves."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.doubts import WAITING
from dlprof.analysis.findings import engine_threads, file_work, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Sentence, Support
from dlprof.analysis.findings.input_load import InputLoad
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground

TITLE = Title("Workers had cores that the steps needed", "workers that use the cores of the steps")
_LEAST = 0.1
"""Share of the steps below which workers beside them are what one has them for."""
_MOST = 0.5
"""Share of the steps that is put down to workers at most: one that shares its cores evenly takes twice as long."""
_LESS = (
    "Have workers do less for a batch: what is the same in each epoch is done once, before the training, and kept (of "
    "a packed file the unpacked rows), and what is left with operations on whole arrays. "
)


def claims(case: Case) -> Iterator[Claim]:
    """Steps whose threads had no core for workers' sake.

    Threads that wait for a core are counted by the kernel; for whose sake that is, is told by who used the cores.
    """
    load, share = _load(case), of_workers(case)
    if load is None or not share or case.machine.scheduling.waiting < WAITING:
        return
    seen = case.machine.scheduling
    # Where threads share each operation evenly, all of them wait for the one that has no core; but no more is lost than
    # all of them waited together.
    lost = share * min(seen.waiting * engine_threads.in_a_step(case), seen.wait_ns / max(1, case.own(Tree.FIT_STEPS)))
    if lost < _LEAST:
        return
    line = load.item_line or load.loader.place
    chunks = file_work.OF_CHUNKS if line is not None and file_work.is_of_hdf5(case, line[0]) else ""
    did = load.stages_text()
    yield Claim(
        Sentence(
            f"Workers of the {load.loader.called} used {load.needs_ns / max(1, load.span[1] - load.span[0]):.1f} cores"
            f"{f' ({did})' if did else ''}, and threads of the training spent "
            f"{100 * seen.waiting:.0f} % of their runnable time without one:"
        ),
        case.takes(Tree.FIT_STEPS, share=min(_MOST, lost)),
        [queries.scheduled(), queries.workers()],
        f"{_LESS}{chunks}",
        line,
        title=TITLE,
        fix="in the data set's __init__: unpack or compute once what is the same in each epoch, and keep it",
        basis=Basis.ESTIMATED,
        support=Support(Ground.MODEL, seen=case.loop.count if case.loop else None),
    )


def of_workers(case: Case) -> float:
    """Of what other processes used of the cores while it trained the workers' part, 0 to 1; 0: none, or not known."""
    load = _load(case)
    if load is None:
        return 0.0
    try:
        workers_pct = 100 * load.needs_ns / max(1, load.span[1] - load.span[0])
        return workers_pct / max(1.0, workers_pct + max(0.0, case.machine.scheduling.others_pct))
    except Abstain:
        return 0.0


def _load(case: Case) -> InputLoad | None:
    """The loader that feeds the training by processes of its own; None: none does, or none was seen."""
    try:
        load = case.input
    except Abstain:
        return None
    return load if load.loader.workers and load.loader.uses_processes else None
