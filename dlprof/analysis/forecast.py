"""What a step would take with another batch or more steps per call, from how one is spent now.

A step is work that grows with the rows of the batch (kernels but those that update weights, copies, making the batch)
and work that is there once a step (updates, starting what is to be done, Keras' own). Rates are taken to stay as they
are: kernels of larger batches are often nearer to the machine's limits, so that a forecast is rather too slow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dlprof.analysis import breakdown, step_split
from dlprof.analysis.step_split import StepSplit
from dlprof.analysis.training import Training
from dlprof.schema.vocabulary import Direction, StepPart
from dlprof.store.run import Run

_GROWS = (StepPart.INPUT, StepPart.TRANSFER)
_FORECAST = ("batch_size", "steps_per_execution")


@dataclass(frozen=True)
class Step:
    """How a step is spent (ns).

    Attributes:
        by_row: What grows with the batch.
        updates: Kernels that update weights, once a step.
        starting: What the host does for each call of the step function.
        batch: Rows of a step.
        joined: Steps of a call.
    """

    by_row: float
    updates: float
    starting: float
    batch: int
    joined: int

    @property
    def ns(self) -> float:
        """A step in all."""
        return self.by_row + self.updates + self.starting

    def with_batch(self, batch: int) -> Step:
        """With another batch."""
        return replace(self, by_row=self.by_row * batch / self.batch, batch=batch)

    def with_joined(self, joined: int) -> Step:
        """With more, or fewer, steps of a call."""
        return replace(self, starting=self.starting * self.joined / joined, joined=joined)


@dataclass(frozen=True)
class Forecast:
    """What is expected of settings.

    Attributes:
        step: Time of a step, over what it is now.
        sample: Time of a row, over what it is now.
        training_ns: By how much the time in steps of the whole training changes (ns).
    """

    step: float
    sample: float
    training_ns: float


def of_run(run: Run, training: Training | None, settings: Mapping[str, Any]) -> Forecast | str:
    """What is expected of a run with other settings; a sentence: why nothing is.

    Args:
        run: As it was, with a kernel window.
        training: What it says of its training.
        settings: As `dlprof try` takes them.
    """
    others = [name for name in settings if name not in _FORECAST]
    if others or not settings:
        return f"nothing that was measured tells what {others[0]} changes" if others else "no setting is Keras' own"
    split = step_split.of_run(run)
    if split is None or split.plain_ns is None or split.plain_step_ns is None:
        return "no kernel window tells what a step is spent on"
    if training is None or not training.batch_size or not training.samples:
        return "the rows of a batch, or of an epoch, are not known"
    now = _step(run, split, split.plain_ns, training)
    then = now.with_batch(settings.get("batch_size", now.batch))
    then = then.with_joined(settings.get("steps_per_execution", now.joined))
    epochs = len(training.losses) or 1
    changed = math.ceil(training.samples / then.batch) * then.ns - math.ceil(training.samples / now.batch) * now.ns
    return Forecast(then.ns / now.ns, then.ns / then.batch / (now.ns / now.batch), epochs * changed)


def _step(run: Run, split: StepSplit, plain_ns: Mapping[StepPart, int | None], training: Training) -> Step:
    kernels = plain_ns[StepPart.KERNELS] or 0
    updates = kernels * _updates(run)
    by_row = kernels - updates + sum(plain_ns[part] or 0 for part in _GROWS)
    starting = (split.plain_step_ns or 0) - by_row - updates
    joined = training.settings.get("steps_per_execution")
    return Step(by_row, updates, starting, training.batch_size or 1, joined if isinstance(joined, int) else 1)


def _updates(run: Run) -> float:
    """Share of the kernels that update weights."""
    tree = breakdown.of_run(run)
    layers = tree.layers if tree is not None else ()
    whole = sum(layer.ns for layer in layers)
    return sum(layer.ns for layer in layers if layer.direction == Direction.UPDATE) / whole if whole else 0.0
