"""How much of batches of sequences is padding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dlprof_probes.inproc.padding import Padding


def rows(*lengths: int, columns: int = 20, first: bool = False) -> Any:
    """Rows of word numbers of these lengths, filled up with 0: at their ends, or first."""
    batch = np.zeros((len(lengths), columns), np.int32)
    for row, length in zip(batch, lengths, strict=True):
        words = np.arange(1, length + 1)
        if first:
            row[columns - length :] = words
        else:
            row[:length] = words
    return batch


def told(*batches: Any) -> dict[str, Any] | None:
    """The facts of these batches."""
    padding = Padding()
    for batch in batches:
        padding.see(batch)
    facts: dict[str, Any] | None = padding.facts()
    return facts


@pytest.mark.parametrize("first", [False, True])
def test_columns_that_no_row_needs_are_told(first: bool) -> None:
    """Of 20 columns the longest row has 12: 8 are padding in all, and 13.5 as a mean of rows."""
    assert told(rows(3, 5, 6, 12, first=first)) == {"batches": 1, "length": 20.0, "in_all": 0.4, "of_rows": 0.675}


def test_rows_that_end_in_words_have_no_padding() -> None:
    """Cut to the same length, each with words of its own."""
    assert told(np.arange(80).reshape(4, 20)) == {"batches": 1, "length": 20.0, "in_all": 0.0, "of_rows": 0.0125}


def test_a_batch_may_be_a_dictionary_with_labels() -> None:
    """The longest rows of whole numbers count: not one label a row, nor floats."""
    batch = {"labels": np.zeros(4, np.int64), "input_ids": rows(3, 5, 6, 10), "scores": np.zeros((4, 99))}

    found = told(batch, (batch, np.zeros(4)))

    assert found is not None
    assert (found["batches"], found["in_all"]) == (2, 0.5)


@pytest.mark.parametrize(
    "batch", [np.zeros((4, 20)), np.zeros((4, 2), int), np.zeros((2, 20), int), np.zeros(4, int), None, "text", 3]
)
def test_what_has_no_rows_of_whole_numbers_tells_nothing(batch: Any) -> None:
    """Pictures, labels, too few rows."""
    assert told(batch) is None


def test_rows_from_all_over_an_array_stand_for_batches() -> None:
    """Long ones are at its end."""
    padding = Padding()
    padding.see_all([np.concatenate([rows(*[5] * 960), rows(*[15] * 64)])])

    assert (padding.facts(), padding.left) == (
        {"batches": 8, "length": 20.0, "in_all": 0.25, "of_rows": 0.71875},
        0,
    )


def test_data_that_is_no_array_of_numpy_is_not_cut_into_rows() -> None:
    """A data set of HDF5 would be read from end to end."""

    class Dataset:
        shape, dtype = (1024, 20), "int64"

        def __len__(self) -> int:
            return 1024

        def __getitem__(self, rows: slice) -> None:
            raise AssertionError(rows)

    padding = Padding()
    padding.see_all([Dataset()])

    assert padding.facts() is None


def test_memory_of_the_host_is_read_where_it_lies() -> None:
    """As that of JAX and TensorFlow, which arrays of NumPy can see."""

    class Array:
        shape, dtype = (4, 20), "int32"

        def __buffer__(self, _flags: int) -> memoryview:
            return memoryview(rows(3, 5, 6, 12))

    found = told(Array())

    assert found is None or found["in_all"] == 0.4  # Python asks for `__buffer__` from 3.12 on


def test_what_is_made_anew_in_each_step_is_the_batch() -> None:
    """Not the data that it was taken from, which was there before."""
    padding, data = Padding(), rows(*[2] * 30)
    batches = [rows(4, 5, 6, 10) for _ in range(4)]
    seen = [padding.see_made([data, batch, "text"]) for batch in batches]

    assert seen == [False, True, True, True]
    assert padding.facts() == {"batches": 3, "length": 20.0, "in_all": 0.5, "of_rows": 0.6875}


def test_a_batch_that_stays_is_looked_at_no_more_than_some_times() -> None:
    """The data are all that a program has at hand."""
    padding, data = Padding(), rows(*[2] * 30)
    looks = 0
    while padding.left and looks < 50:
        padding.see_made([data])
        looks += 1

    assert (looks, padding.facts()) == (9, None)


def test_a_symbol_without_a_shape_is_passed_over() -> None:
    """A placeholder of a graph that the program holds beside its batch."""
    symbol = type("Symbol", (), {"__module__": "tensorflow.python", "shape": (None, 20), "dtype": "int32"})()
    padding = Padding()

    assert [padding.see_made([symbol, rows(4, 5, 6, 10)]) for _ in range(2)] == [False, True]
