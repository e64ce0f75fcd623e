"""Numbers of rows that a sampler of the script's own draws, one at a time, on the thread that trains.

A loader of PyTorch asks its sampler for the rows of each batch before a worker can make it: workers cannot help with
that, and wait for it, too. NumPy's `choice` with probabilities checks and sums up all of them in each call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Ground, Phase

_TITLE = Title("A sampler took long to choose the rows", "a sampler that chooses rows")
_LEAST = 0.15
"""Share of the waits for batches that it must have to be a cause."""
_USUAL = 0.05
"""Share that PyTorch's own samplers, and those that give rows of a list, have in them."""
_LOADER = "torch/utils/data/dataloader.py"
_ASKS = "_next_index"
"""Method of its iterators that asks the sampler."""
_WEIGHTED = re.compile(r"\b(choice|choices|multinomial|searchsorted)\(")
_FIX = "np.random.choice(n, size=k, p=p) once for the epoch, or WeightedRandomSampler(weights, k), torch.multinomial"


def takes(case: Case) -> dict[TreePath, int]:
    """What of its waits the training runs a sampler of the script's own, by leaf (ns); empty: little, or in a pair."""
    part = 0.0 if case.pair else _share(case)
    if part < _LEAST:
        return {}
    drawn = case.takes(Tree.FIT_INPUT, share=part)
    return {leaf: min(ns, drawn[leaf]) for leaf, ns in case.input_waits.items() if leaf in drawn}


def _share(case: Case) -> float:
    return case.code.share([Tree.FIT_INPUT], lambda sample: _draws(case, sample))


def claims(case: Case) -> Iterator[Claim]:
    """One, where such a sampler has much of what the training waits for its batches."""
    drawn = takes(case)
    if not sum(drawn.values()):
        return
    part = _share(case)
    line = case.code.hottest_line([Tree.FIT_INPUT], lambda sample: _draws(case, sample))
    text = case.code.source(*line) if line else ""
    draws = bool(_WEIGHTED.search(text))
    yield Claim(
        Sentence(
            f"The training waits for its batches, and for {100 * part:.0f} % of that its own thread runs the sampler, "
            "which chooses their rows:"
        ),
        drawn,
        [queries.passes(), queries.python_stood(Phase.FIT_INPUT)],
        f"{case.code.counting_note(line)}The loader asks for them before a worker gets work: more workers change "
        "nothing. Draw all rows of an epoch at once, at the beginning of the sampler's __iter__, with one operation "
        f"on whole arrays, and yield them from that{_OF_CHOICE if draws else ''}.",
        line,
        title=_TITLE,
        support=Support(Ground.REPEATED if draws else Ground.PLACE, part=part, usual=_USUAL),
        fix=_FIX if draws else None,
    )


_OF_CHOICE = ": a call for one row goes through the probabilities of all of them"


def _draws(case: Case, sample: Sample) -> bool:
    """Whether code of the user's runs that the loader's iterator asked for the rows of a batch."""
    users = case.code.user_files
    asks = next(
        (n for n, frame in enumerate(sample.frames) if frame.name.endswith(_ASKS) and frame.file.endswith(_LOADER)), 0
    )
    return any(frame.file in users for frame in sample.frames[:asks])
