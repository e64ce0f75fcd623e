"""Many models that are compiled for a moment of training each: a search, an ensemble, folds.

A graph belongs to its model: the next one has its own, though its layers be the same. That is what such a script does,
not surely what it loses, so it is asked. How many of the models are built as one before tells what could be kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dlprof.analysis.findings import made_anew, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Basis, Ground, SpanKind
from dlprof.units import duration

_TITLE = Title("Models were compiled for a moment of training each", "compiling many models")
_FEWEST = 5
"""Models: fewer are compared by hand, or trained in turn."""
_TRAINING = (Tree.FIT_STEPS, Tree.FIT_INPUT, Tree.FIT_WAIT, Tree.FIT_CALLBACKS, Tree.FIT_VALIDATION)
_ASIDE = (Tree.EVALUATE, Tree.PREDICT)
"""Their functions are compiled for each model as well."""
_AS_MEANT = 0.0
"""What agrees: that so many graphs cost much is sure, that they are not wanted is not."""
_NEXT = (
    "Is each of them needed? Where only the learning rate or the seed changes, keep one compiled model: set its "
    "weights and its optimizer's variables anew, and assign the learning rate. Other layers need a graph of their own: "
    "then compare fewer, or train each for longer."
)


def claims(case: Case, models: int, building: Mapping[TreePath, int], line: SourceLine | None) -> Iterator[Claim]:
    """One, a question, where each of many models took longer to compile than to train.

    Args:
        case: The run.
        models: How many were trained, one after another.
        building: Time in which their graphs were built, by leaf (ns).
        line: The line that asked for most of that.
    """
    building_ns, training_ns = sum(building.values()), sum(case.own(path) for path in _TRAINING)
    if models < _FEWEST or building_ns <= training_ns:
        return
    every = {**building, **_compiled_aside(case)}
    again = (models - 1) / models
    yield Claim(
        Sentence(
            f"{models} models were compiled, {duration(building_ns // models)} each, "
            f"for {duration(training_ns // models)} of training each; all but the first:",
            f".{_alike(case)}",
        ),
        {leaf: int(ns * again) for leaf, ns in every.items()},
        [queries.spans(SpanKind.GRAPH_COMPILE, SpanKind.BUILD, SpanKind.CONSTRUCT, SpanKind.COMPILE)],
        _NEXT,
        line,
        title=_TITLE,
        basis=Basis.ESTIMATED,
        support=Support(Ground.PLACE, seen=models, agree=_AS_MEANT),
    )


def _compiled_aside(case: Case) -> dict[TreePath, int]:
    """Time of compilations in evaluations and predictions, by leaf (ns)."""
    every = made_anew.joined([call.interval for call in case.calls.of(SpanKind.GRAPH_COMPILE)])
    by_phase = case.phases.of(every)
    return case.spread({path: ns for path, ns in by_phase.items() if any(one.holds(path) for one in _ASIDE)})


def _alike(case: Case) -> str:
    """How many have the layers and weights of one before, as their trainings told; empty: none, or they did not."""
    by_names = {_layer_names(call.detail): _build(call.detail) for call in case.calls.of(SpanKind.FIT)}
    known = [one for one in by_names.values() if one is not None]
    count = len(known) - len(set(known))
    verb = "has" if count == 1 else "have"
    return f" {count} of them {verb} the layers and the number of weights of one before." if count else ""


def _layer_names(training: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the layers, which tell a model that is trained again from the next one."""
    return tuple(str(layer.get("name")) for layer in (training.get("model") or {}).get("layers") or ())


def _build(training: Mapping[str, Any]) -> str | None:
    """What a graph depends on, as one text; None: the training did not tell."""
    layers = (training.get("model") or {}).get("layers")
    weights = ((training.get("training") or {}).get("weights") or {}).get("count")
    if not layers or weights is None:
        return None
    shapes = [(one.get("shape") or [None])[1:] for one in training.get("data") or ()]
    return json.dumps([[layer.get("class") for layer in layers], weights, training.get("batch_size"), shapes])
