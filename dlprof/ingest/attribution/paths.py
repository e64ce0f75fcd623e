"""Reads name scopes such as `gradient_tape/sequential_1/dense_1_1/MatMul` and `jit(f)/jvp(dense_1)/dot`."""

from __future__ import annotations

import re
from functools import cache

from dlprof.ingest.attribution.labels import Label, Model
from dlprof.schema.vocabulary import Direction, PseudoLayer

_NUMBERED = re.compile(r"_\d+$")
_WRAPPED = re.compile(
    r"^(jvp|transpose|vmap|vjp|checkpoint|remat|rematted_computation|shard_map|pjit|jit|xmap)\((.*)\)$"
)
_PLUMBING = re.compile(
    r"^(Stateful)?PartitionedCall(_\d+)?$|^(replica|tower|while|cond|body|branch|loop)(_\d+)?$|^cluster_\d+|^XlaModule$"
    r"|^(jit|pjit|core_call|closed_call|custom_jvp_call|custom_vjp_call)$|^gradient_tape$|^gradients(_\d+)?$|^training$"
)
_IN_PLACE = re.compile(r"^_\d+$")
"""The body of a loop, or a branch, that TensorFlow has put in its place: behind it the path begins anew."""
_GRADIENTS = re.compile(r"^gradients(_\d+)?$")
_OPTIMIZERS = frozenset(
    [
        "sgd",
        "adam",
        "adamw",
        "adamax",
        "adagrad",
        "adadelta",
        "nadam",
        "ftrl",
        "rmsprop",
        "rm_sprop",
        "lion",
        "lamb",
        "adafactor",
        "muon",
        "optimizer",
    ]
)
_LOSSES = frozenset(["compile_loss", "loss", "losses"])
_METRICS = frozenset(["compile_metrics", "metrics", "metric"])
_READS = "ReadVariableOp"
_UPDATING_OPS = re.compile(r"^(Resource)?(Sparse)?Apply[A-Z]|^Assign(Add|Sub)?VariableOp$")


def components(path: str) -> tuple[list[str], bool]:
    """The parts of a path without the wrappers of transformations; and whether it is of a backward pass."""
    parts, backward = [], False
    for part in path.split("/"):
        while (match := _WRAPPED.match(part)) is not None:
            backward = backward or match[1] in ("transpose", "vjp")
            if match[1] in ("jit", "pjit"):
                part = ""  # noqa: PLW2901  (a function's name, not a scope's)
                break
            part = match[2]  # noqa: PLW2901
        if part in ("gradient_tape", "gradients") or part.startswith("gradients_"):
            backward = True
        parts.append(part)
    return [part for part in parts if part], backward


def label(path: str, model: Model) -> Label:
    """Layer and direction of an operator at a path; None for what the path does not tell.

    The last part of the path is the operator's own name. Layers are those of the model where they are
    known; else the scope around the operator stands for the layer. In a step of Keras' own all but the
    metrics work within a scope. XLA joins the paths of operators that it merges by `;`: the first of them that tells a
    layer stands for all.
    """
    labels = [_label(one, model) for one in path.split(";")]
    return next((one for one in labels if one.layer is not None), labels[0])


def _label(path: str, model: Model) -> Label:
    parts, backward = components(path)
    direction = Direction.BACKWARD if backward else Direction.FORWARD
    inner = parts[:-1]
    optimizer = None if backward else _optimizer(inner, model)
    if model.is_known and optimizer is None:
        layer = _known_layer(parts, tuple(model.layers))
        if layer is not None:
            return Label(layer, direction)
    if optimizer is not None:
        return Label(optimizer, Direction.UPDATE)
    scope = _scope(parts, model)
    lower = [_NUMBERED.sub("", part.lower()) for part in inner]
    if any(part in _LOSSES or part.endswith("_loss") for part in lower):
        return Label(PseudoLayer.LOSS, direction)
    if not _METRICS.isdisjoint(lower) or (model.keras_steps and inner and not scope and not backward):
        return Label(PseudoLayer.METRICS, Direction.FORWARD)
    if model.is_known or not scope:
        return Label(None, Direction.BACKWARD if backward else None)
    return Label("/".join(scope), direction)


def _scope(parts: list[str], model: Model) -> list[str]:
    """What is around an operator, without the engine's own parts.

    TensorFlow reads a variable within the operator that it is read for (`Add_3/ReadVariableOp`): that is no scope. A
    single one may be a layer that reads its own, where neither layers nor models are known.
    """
    scope = [part for part in _forward_part(_behind_bodies(parts[:-1])) if not _PLUMBING.match(part)]
    if not scope or not parts[-1].startswith(_READS) or _NUMBERED.sub("", scope[-1]) in model.models:
        return scope
    return scope[:-1] if model.keras_steps or len(scope) > 1 else scope


def _behind_bodies(parts: list[str]) -> list[str]:
    """The last part of a path that begins anew in the body of a loop: `lstm/while/body/_23/lstm/while/MatMul`."""
    start = max((i + 1 for i, part in enumerate(parts) if _IN_PLACE.match(part)), default=0)
    return parts[start:]


def _forward_part(parts: list[str]) -> list[str]:
    """What names the forward operator in the path of its gradient: `.../gradients/LAYER/MatMul_grad` (TensorFlow 1)."""
    start = max((i + 1 for i, part in enumerate(parts) if _GRADIENTS.match(part)), default=0)
    return [part for part in parts[start:] if not (start and part.endswith("_grad"))]


def _optimizer(parts: list[str], model: Model) -> str | None:
    names = set(model.optimizers)
    for part in parts:
        plain = _NUMBERED.sub("", part)
        if part in names or plain in names:
            return model.optimizers[0]
        if plain.lower() in _OPTIMIZERS and not model.is_known:
            return plain
    return None


def _known_layer(parts: list[str], layers: tuple[str, ...]) -> str | None:
    """The innermost part that is the name of a layer; TensorFlow adds `_1` and so on to make scopes unique."""
    exact, numbered = _layer_names(layers)
    for part in reversed(parts):
        if part in exact:
            return part
        plain = _NUMBERED.sub("", part)
        if plain != part and plain in numbered:
            return plain
    return None


@cache
def _layer_names(layers: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(layers), frozenset(layers)


def is_update(op: str) -> bool:
    """Whether an operator type of TensorFlow changes a variable."""
    return _UPDATING_OPS.match(op) is not None
