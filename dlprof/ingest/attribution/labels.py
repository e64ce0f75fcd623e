"""Labels of events, and what the run tells of the model they belong to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dlprof.ingest.file_names import FileNames
from dlprof.ingest.kernels.events import NONE, Integers
from dlprof.ingest.kernels.numbered import Numbered
from dlprof.schema.vocabulary import Direction, PseudoLayer


class Label(NamedTuple):
    """Whose an event is; None: it is not known."""

    layer: str | None
    direction: Direction | None


class Line(NamedTuple):
    """The line of the user's that made an operation, as files are named in the tables."""

    file: str
    line: int


NOBODY = Label(None, None)


@dataclass(frozen=True)
class Model:
    """What the in-process probe saw of the model; all empty for foreign traces.

    Attributes:
        layers: Names of the layers, those of nested models too.
        models: Names of the models.
        optimizers: Names of the optimiser as Keras and its name scopes write it; the first is that of all backends.
        graphs: What a tracer kept of the engine's graphs, in order of binding.
        keras_steps: Whether all steps are Keras' own, so that what bears no scope in them is the metrics'.
        files: Which files are the user's, and how they are named.
    """

    layers: Sequence[str] = ()
    models: Sequence[str] = ()
    optimizers: Sequence[str] = ()
    graphs: Sequence[Mapping[str, Any]] = ()
    keras_steps: bool = False
    files: FileNames = field(default_factory=lambda: FileNames(""))

    @property
    def is_known(self) -> bool:
        """Whether the layers are known."""
        return bool(self.layers)

    @property
    def optimizer(self) -> str:
        """What updates are labelled with."""
        return self.optimizers[0] if self.optimizers else PseudoLayer.OPTIMIZER


@dataclass
class Labels:
    """A label, an operator and a line for each event.

    Attributes:
        label: Number of the label of each event in `labels`, or NONE.
        op: Number of its operator in `ops`, or NONE.
        line: Number of its line in `lines`, or NONE.
    """

    label: Integers
    op: Integers
    line: Integers
    labels: Numbered[Label] = field(default_factory=Numbered)
    ops: Numbered[str] = field(default_factory=Numbered)
    lines: Numbered[Line] = field(default_factory=Numbered)

    @classmethod
    def empty(cls, size: int) -> Labels:
        """No labels for `size` events."""
        label, op, line = (np.full(size, NONE, np.int64) for _ in range(3))
        return cls(label, op, line)

    def number(self, layer: str | None, direction: Direction | None) -> int:
        """The number of a label."""
        return self.labels.number(Label(layer, direction))


_SNAKE_1 = re.compile(r"\W+")
_SNAKE_2 = re.compile(r"(.)([A-Z][a-z]+)")
_SNAKE_3 = re.compile(r"([a-z])([A-Z])")


def snake(name: str) -> str:
    """A class name as Keras turns it into an object's name: `RMSprop` to `rm_sprop`."""
    return _SNAKE_3.sub(r"\1_\2", _SNAKE_2.sub(r"\1_\2", _SNAKE_1.sub("", name))).lower()


def model_of(
    facts: Sequence[Mapping[str, Any]], graphs: Sequence[Mapping[str, Any]], files: FileNames | None = None
) -> Model:
    """What the probe recorded at the loops of a run, as one model."""
    layers: dict[str, None] = {}
    models: dict[str, None] = {}
    optimizers: dict[str, None] = {}
    for fact in facts:
        layers.update(dict.fromkeys(str(layer["name"]) for layer in fact.get("layers", ())))
        models.update(dict.fromkeys(str(name) for name in fact.get("models", ())))
        optimizer = fact.get("optimizer") or {}
        for name in (optimizer.get("name"), optimizer.get("class")):
            if name:
                optimizers.update(dict.fromkeys((snake(str(name)), str(name), str(name).lower())))
    own = [bool(fact.get("keras_steps")) for fact in facts if fact.get("layers")]
    return Model(
        tuple(layers), tuple(models), tuple(optimizers), tuple(graphs), bool(own) and all(own), files or FileNames("")
    )
