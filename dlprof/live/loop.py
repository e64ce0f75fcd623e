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
        recent_ns: Time per step of the recent records (ns), the wait for the batch included. Where steps return before
            the device is done (`runs_on`), the time from one to the next of which values are known.
        runs_on: Whether they do.
    """

    name: Loop
    epoch: int | None = None
    step: int | None = None
    epochs: int | None = None
    steps: int | None = None
    last_end_ns: int = 0
    seen: int = 0
    recent_ns: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT_STEPS))
    runs_on: bool = False
    _known: tuple[int, int, int] | None = None
    """Epoch, step and time (ns) of the last values."""

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
        self.runs_on = step.runs_on
        if not (step.first or step.runs_on):  # the first holds a compilation: thousands of times the others
            self.seen += 1
            self.recent_ns.append((step.end_ns - step.begin_ns + step.input_ns) / step.steps)

    def valued(self, epoch: int, step: int, time_ns: int) -> None:
        """Values of a step are known: it is done."""
        before, self._known = self._known, (epoch, step, time_ns)
        if not self.runs_on or before is None or before[0] != epoch or before[1] >= step:
            return
        self.seen += 1
        self.recent_ns.append((time_ns - before[2]) / (step - before[1]))

    def pause(self) -> None:
        """What comes next is not part of a step."""
        self._known = None

    @property
    def average(self) -> str:
        """Which average `median_ns` is: values become known in bunches, so that only their mean says something."""
        return "mean" if self.runs_on else "median"

    @property
    def median_ns(self) -> float | None:
        """Time of a recent step (ns), by their `average`."""
        if not self.recent_ns:
            return None
        return statistics.fmean(self.recent_ns) if self.runs_on else statistics.median(self.recent_ns)

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
