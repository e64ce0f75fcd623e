"""How far a loop of steps is, and how long its recent steps took."""

from __future__ import annotations

import statistics
from collections import deque
from dataclasses import dataclass, field

from dlprof.live.records import LoopLength, Step
from dlprof.schema.vocabulary import Loop

RECENT_STEPS = 512
"""How many records of steps the median and the strip look back."""


@dataclass
class LoopProgress:
    """Steps of one kind of loop.

    Attributes:
        epoch: The current epoch, from zero; None: not known, as is `step`.
        epochs: How many epochs there will be, where Keras says so.
        steps: How many steps an epoch has, likewise.
        last_end_ns: When the last step ended.
        seen: Records that went into `recent_ns` so far: tells a strip which of the recent steps belong together.
        recent_ns: Time per step of the recent records (ns), the wait for the batch included.
    """

    name: Loop
    epoch: int | None = None
    step: int | None = None
    epochs: int | None = None
    steps: int | None = None
    last_end_ns: int = 0
    seen: int = 0
    recent_ns: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT_STEPS))

    def begin(self, *, new_training: bool) -> None:
        """A loop of this kind begins; steps of a training before, maybe of another model, do not count any more."""
        self.epoch = self.step = self.steps = None
        if new_training:
            self.epochs = None
            self.seen = 0
            self.recent_ns.clear()

    def expect(self, length: LoopLength) -> None:
        """Keras said how long the loop will be."""
        self.epochs = length.epochs or self.epochs
        # Batches are told of every data set that is made meanwhile, that of the validation too: the first is ours.
        self.steps = length.steps or self.steps or length.batches

    def add(self, step: Step) -> None:
        """A step is over."""
        self.epoch = step.epoch
        self.step = step.step + step.steps - 1
        self.last_end_ns = step.end_ns
        if not step.first:  # it holds a compilation: thousands of times the others
            self.seen += 1
            self.recent_ns.append((step.end_ns - step.begin_ns + step.input_ns) / step.steps)

    @property
    def median_ns(self) -> float | None:
        """Median time of a recent step (ns)."""
        return statistics.median(self.recent_ns) if self.recent_ns else None

    @property
    def per_s(self) -> float | None:
        """Recent steps per second of their own time: pauses between epochs do not count."""
        total_ns = sum(self.recent_ns)
        return 1e9 * len(self.recent_ns) / total_ns if total_ns else None

    def position(self) -> list[str]:
        """`epoch 3/10` and `step 41/469`, as far as they are known; both count from one."""
        counts = (("epoch", self.epoch, self.epochs), ("step", self.step, self.steps))
        return [
            f"{word} {number + 1}" + (f"/{total}" if total else "")
            for word, number, total in counts
            if number is not None
        ]
