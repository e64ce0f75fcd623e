"""Values with numbers: columns hold the numbers, so that millions of events name a text or a scope in a few bytes."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from dlprof.ingest.limits import budget

Value = TypeVar("Value", bound=Hashable)


@dataclass
class Numbered(Generic[Value]):
    """Values, each with a number from 0 on; equal values have the same number."""

    values: list[Value] = field(default_factory=list)
    numbers: dict[Value, int] = field(default_factory=dict)

    def number(self, value: Value) -> int:
        """The number of `value`, a new one if it is new."""
        known = self.numbers.get(value)
        if known is None:
            known = self.numbers[value] = len(self.values)
            self.values.append(value)
        return known

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, number: int) -> Value:
        return self.values[number]


class Bounded(Numbered[Value]):
    """Values that come out of a file: their number and their lengths are limited."""

    def number(self, value: Value) -> int:
        """The number of `value`, a new one if it is new.

        Raises:
            LimitError: There are too many of them.
        """
        known = self.numbers.get(value)
        if known is None:
            budget().name(value)
            known = self.numbers[value] = len(self.values)
            self.values.append(value)
        return known
