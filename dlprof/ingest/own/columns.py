"""Rows of numbers that grow one by one, kept as columns: a few bytes each, however many there are."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt


class Columns:
    """Rows of numbers.

    Args:
        codes: The type of each column, as `array` has it: `i`, `q`, `d`.
    """

    def __init__(self, codes: str) -> None:
        self._columns: list[array[Any]] = [array(code) for code in codes]
        self._adders = [column.append for column in self._columns]

    def append(self, *row: Any) -> None:
        """Add a row.

        Raises:
            OverflowError: A number is too large for its column.
        """
        for add, value in zip(self._adders, row, strict=True):
            add(value)

    def extend(self, *columns: npt.NDArray[Any]) -> None:
        """Add rows, an array of each column, whose numbers fit."""
        for column, values in zip(self._columns, columns, strict=True):
            column.frombytes(values.astype(column.typecode).tobytes())

    def set(self, column: int, row: int, value: Any) -> None:
        """Replace a number."""
        self._columns[column][row] = value

    def at(self, column: int, row: int) -> Any:
        """A number."""
        return self._columns[column][row]

    def numbers(self, column: int, low: int = 0, high: int | None = None) -> npt.NDArray[Any]:
        """A column, or rows [low, high) of it, as it is just now."""
        return np.array(self._columns[column][low:high])

    def __len__(self) -> int:
        return len(self._columns[0])

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return zip(*self._columns, strict=True)

    def __eq__(self, other: object) -> bool:
        """Whether it has the same rows as a list, or as another one."""
        return list(self) == list(other) if isinstance(other, list | Columns) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, row: int) -> tuple[Any, ...]:
        return tuple(column[row] for column in self._columns)


class Texts:
    """Texts that come again and again, by their numbers.

    Attributes:
        by_number: All of them; the first is empty.
    """

    def __init__(self) -> None:
        self.by_number: list[str] = [""]
        self._numbers: dict[str, int] = {"": 0}

    def number(self, text: str) -> int:
        """The number of a text, which it gets when it comes first."""
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self.by_number)
            self.by_number.append(text)
        return number

    def known(self, text: str) -> int | None:
        """The number of a text; None: it did not come."""
        return self._numbers.get(text)


class Metrics(Columns):
    """Values that Keras computed: rows (loop, epoch, step, time, name, value); as columns, the name is a number."""

    def __init__(self) -> None:
        super().__init__("iiiqid")
        self.names = Texts()

    def add(self, loop: int, epoch: int, step: int, time: int, name: str, value: float) -> None:
        """Add a value."""
        self.append(loop, epoch, step, time, self.names.number(name), value)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return ((*row[:4], self.names.by_number[row[4]], row[5]) for row in super().__iter__())

    def __getitem__(self, row: int) -> tuple[Any, ...]:
        found = super().__getitem__(row)
        return (*found[:4], self.names.by_number[found[4]], found[5])
