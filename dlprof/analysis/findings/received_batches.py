"""Batches that worker processes have made, and that take the training long to receive and to put together again.

Where a training waits for its batches although the workers wait for work, what takes the time is between them. What the
thread that asks does meanwhile tells it: it unpacks what they sent, and does not wait for them to send it. With PyTorch
each tensor is shared memory of its own, and the training asks the worker for each.
"""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, Support
from dlprof.analysis.findings.input_load import InputLoad
from dlprof.analysis.findings.title import Title
from dlprof.analysis.loaders import OF_TORCH
from dlprof.schema.vocabulary import Basis, Ground, InputStage
from dlprof.units import duration

_TITLE = Title("Batches took long to come over from the workers", "handing batches over from the workers")
_LEAST = 0.25
"""Share of the time in which the training asks for batches that it must receive them, for that to be a cause."""
_LEAST_EACH_NS = 5_000_000
"""Batches of a few tensors took 1.5 and 2.3 ms: that is what workers cost, whatever they give.

It is time with a core: where other programs have the cores, each message takes several times as long.
"""
_SAVES = 0.85
"""An estimate of what fewer pieces, or none that must be sent, save: batches in one piece are received, too."""
_USUAL = 0.1
"""Share of its waits in which a training usually receives what workers of it made."""


def share(load: InputLoad | None) -> float:
    """Share of its waits in which the training receives what processes have made; 0: little, or nobody knows."""
    part = seen(load)
    if load is None or part < _LEAST:
        return 0.0
    return part if part * load.machine.with_a_core * _waited_ns(load) >= _LEAST_EACH_NS else 0.0


def seen(load: InputLoad | None) -> float:
    """The same, however little that is for a batch; 0: nothing, or nobody knows."""
    if load is None or load.pipeline.calling is None or not load.loader.uses_processes:
        return 0.0
    calling = load.pipeline.calling
    asking = calling.stood_ns(InputStage.RECEIVING, InputStage.WAITING)
    return calling.stood_ns(InputStage.RECEIVING) / asking if asking else 0.0


def _waited_ns(load: InputLoad) -> float:
    """For how long the training waits for a batch, in all (ns)."""
    return sum(one.waited_ns for one in load.passes) / max(1, load.loader.items)


def claims(case: Case, load: InputLoad | None) -> Iterator[Claim]:
    """One, where the training receives its batches for much of the time in which it waits for them.

    Args:
        case: The run.
        load: The loader with workers that feeds the training.
    """
    part = share(load)
    if load is None or not part:
        return
    loader = load.loader
    yield Claim(
        Sentence(
            f"The training waits for batches of its {loader.called}, and for {100 * part:.0f} % of that it takes what "
            f"the workers sent, {duration(part * _waited_ns(load))} for a batch{_resting(load)}:"
        ),
        {leaf: int(_SAVES * part * ns) for leaf, ns in case.input_waits.items()},
        [queries.passes(), queries.workers()],
        _ADVICE_OF_TORCH if loader.kind == OF_TORCH else _ADVICE,
        loader.place or load.item_line,
        title=_TITLE,
        basis=Basis.ESTIMATED,
        support=Support(Ground.PLACE, seen=loader.items, part=part, usual=_USUAL),
        fix=_FIX if loader.kind == OF_TORCH else None,
    )


_ADVICE = "Have workers give batches as a few whole arrays; or make these batches without workers, where that is cheap."
_ADVICE_OF_TORCH = (
    "Have collate_fn join what belongs together (torch.cat or torch.stack, with the lengths beside), so that a batch "
    "is a few tensors: each tensor that a worker gives, also those in lists, dicts and objects, is shared memory and "
    "a file descriptor of its own, which are handed over one by one. Or make these batches without workers, where "
    "that is cheap."
)
_FIX = "a collate_fn that returns torch.cat(parts) and their lengths, in place of a list of many small tensors"


def _resting(load: InputLoad) -> str:
    """How much the workers rest meanwhile; empty: hardly, or nobody knows."""
    shares = [one.busy for one in load.pipeline.workers if one.busy is not None]
    rest = 1 - sum(shares) / len(shares) if shares else 0.0
    return f", while these have no work for {100 * rest:.0f} % of theirs" if rest >= _LEAST else ""
