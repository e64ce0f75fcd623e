"""Models of PyTorch that are made, or loaded, again and again, with their work between: by what the stacks stand in.

PyTorch says of no model that it is made; its constructors draw first values for the weights, and what reads files of
weights is its own. A model of many parts is made in one go; one that is made for each request is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from dlprof.analysis.findings import queries, visits
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, Support
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.analysis.stacks import Frame
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Ground, Phase

_TITLE = Title("Models were set up again and again", "setting models up again")
_PATHS = (Tree.SCRIPT, Tree.PREDICT, Tree.EVALUATE, Tree.FIT_STEPS, Tree.DATA)
_MAKES, _LOADS, _CALLS = "torch/nn/init.py", "torch/serialization.py", "torch/nn/modules/module.py"
_LOADING = frozenset({"load", "_load", "_legacy_load"})
_CALLING = frozenset({"_call_impl", "_wrapped_call_impl"})
"""What runs a model; its constructors do other things, too, while they make it."""
_FEWEST = 5
"""Times that a model is seen to be set up, with something else between: a model that runs, or one that is loaded."""
_SHARE_OF_WORK = 0.10
_NEXT = (
    "Make and load it once, before the loop or when the program starts, and keep it: a function that answers a request "
    "takes it as an argument, or from the module. To begin anew, give it its first values back (load_state_dict of a "
    "copy that was kept)."
)


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, where setting models up has a good part of the work."""
    if case.engine.name != "torch" or not case.code.samples:
        return
    takes = {}
    for path in _PATHS:
        takes.update(case.takes(path, share=case.code.share([path], is_setup)))
    if sum(takes.values()) < _SHARE_OF_WORK * case.work_ns:
        return
    times = _times(case)  # of a long run this takes memory
    if times < _FEWEST:
        return
    yield Claim(
        Sentence(f"Models are made or loaded again and again, {times} times and more, with their work between:"),
        takes,
        [queries.python_stood(Phase.SCRIPT, Phase.PREDICT, Phase.FIT_STEPS)],
        _NEXT,
        case.code.hottest_line(_PATHS, is_setup, main=True),
        title=_TITLE,
        support=Support(Ground.REPEATED, seen=times),
        fix="model = make(); model.load_state_dict(torch.load(path)) once, outside of the function that is called",
    )


def is_setup(sample: Sample) -> bool:
    """Whether weights of a model are made or loaded in a sample."""
    return _kind(sample.frames) in (_MAKES, _LOADS)


def _kind(frames: Sequence[Frame]) -> str | None:
    """What the engine does in a stack; None: nothing."""
    if any(frame.file.startswith(_MAKES) for frame in frames):
        return _MAKES
    if any(frame.file.startswith(_LOADS) and frame.name in _LOADING for frame in frames):
        return _LOADS
    return _CALLS if any(frame.file.startswith(_CALLS) and frame.name in _CALLING for frame in frames) else None


def _times(case: Case) -> int:
    """How often a model was seen to be made, or loaded, after another one had run or was loaded, or made."""
    kinds = (kind for kind in map(_kind, visits.in_order(case.run)) if kind is not None)
    turns = [kind for kind, _ in groupby(kinds)]
    return max(turns.count(_MAKES), turns.count(_LOADS))
