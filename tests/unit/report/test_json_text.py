"""JSON of dlprof's own objects."""

from __future__ import annotations

import datetime as dt
import decimal
import json
from dataclasses import dataclass

import numpy as np
import pytest
from msgspec import UNSET, Struct, UnsetType

from dlprof.report.json_text import plain, print_json
from dlprof.schema.vocabulary import Loop


class Pair(Struct, frozen=True):
    """Two values, of which one may not be there."""

    a: int
    b: int | UnsetType | None = UNSET


@dataclass(frozen=True)
class Held:
    """A dataclass that holds structs."""

    loop: Loop
    pairs: tuple[Pair, ...]


def test_structs_and_dataclasses_become_dictionaries() -> None:
    """As deep as it goes; what is not set is not there."""
    content = plain(Held(Loop.TRAIN, (Pair(1), Pair(2, None))))

    assert json.dumps(content) == '{"loop": "train", "pairs": [{"a": 1}, {"a": 2, "b": null}]}'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (dt.datetime(2026, 11, 21, 10, 0), '"2026-11-21 10:00:00"'),  # noqa: DTZ001  (DuckDB gives such)
        (decimal.Decimal("1.50"), '"1.50"'),
        (b"ab", "\"b'ab'\""),
        (10**30, "1" + "0" * 30),
        (float("nan"), "null"),
        ({"a": [float("inf")]}, '{\n  "a": [\n   null\n  ]\n }'),
        ({1, 2}.__class__, "\"<class 'set'>\""),
    ],
)
def test_values_of_sql_answers_are_written_as_json_has_them(
    value: object, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """By their text where JSON has no such value."""
    print_json([value])

    assert capsys.readouterr().out == f"[\n {text}\n]\n"


def test_numbers_of_numpy_are_numbers() -> None:
    """Not texts, wherever a figure was summed."""
    assert plain({"share": np.float64(1.0), "count": np.int64(3)}) == {"share": 1.0, "count": 3}
    assert type(plain([np.float64(1.0)])[0]) is float
