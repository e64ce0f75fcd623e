"""Names of tf.data's iterators."""

from __future__ import annotations

import pytest

from dlprof.ingest.parse import xiterator_names
from dlprof.ingest.parse.xiterator_names import Place

ROOT = "Iterator::Root"


@pytest.mark.parametrize(
    ("name", "path", "is_nested", "number"),
    [
        ("Prefetch::Map", "Prefetch::Map", False, None),
        ("Zip[1]::Map", "Zip[1]::Map", False, 1),
        ("ConcatenateV2[0]::Zip[1]::Map::Range", "ConcatenateV2[0]::Zip[1]::Map::Range", False, None),
        ("DirectedInterleave::Map", "DirectedInterleave::Map", False, 0),
        ("DirectedInterleave[2]::Map", "DirectedInterleave[2]::Map", False, 3),
        ("FiniteRepeat[3]::MemoryCache", "FiniteRepeat::MemoryCache", False, None),
        ("ForeverRepeat[0]::Map::Range", "ForeverRepeat::Map::Range", False, None),
        ("ParallelInterleaveV4[7]::Map::TextLine", "ParallelInterleaveV4::Map::TextLine", True, None),
        ("FlatMap[0]::Generator", "FlatMap::Generator", True, None),
        ("FlatMap[0]::Zip[1]::Range", "FlatMap::Zip[1]::Range", True, 1),
    ],
)
def test_an_index_is_that_of_an_input_a_pass_or_an_element(
    name: str, path: str, is_nested: bool, number: int | None
) -> None:
    """As TensorFlow 2.21 names the iterators of each kind of data set."""
    assert xiterator_names.place(f"{ROOT}::{name}") == Place(f"{ROOT}::{path}", is_nested, number)


def test_inputs_stand_as_the_program_gave_them() -> None:
    """By number, not by its digits; the one that selects among the others is the first."""
    names = ["Zip[10]::Map", "Zip[2]::Batch", "DirectedInterleave[0]::Map", "DirectedInterleave::Range"]
    places = sorted((xiterator_names.place(name) for name in names), key=lambda one: one.order)

    assert [one.path for one in places] == [names[3], names[2], names[1], names[0]]


def test_the_stages_around_one_are_told_without_their_own_index() -> None:
    """`Zip[1]` is how its input names it."""
    places = xiterator_names.around(f"{ROOT}::Zip[1]::Interleave[4]::TFRecord")

    assert places == [
        Place(ROOT, False, None),
        Place(f"{ROOT}::Zip", False, None),
        Place(f"{ROOT}::Zip[1]::Interleave", False, 1),
    ]
    assert xiterator_names.place(f"{ROOT}::Zip[1]::Interleave").parent == f"{ROOT}::Zip"


def test_a_number_that_is_none_is_a_part_of_the_name() -> None:
    """Python refuses numbers of 5,000 digits."""
    name = f"{ROOT}::Zip[{'9' * 5000}]::Map"

    assert xiterator_names.place(name) == Place(name, False, None)
