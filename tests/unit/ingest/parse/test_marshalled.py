"""Python's marshal format, read without trust."""

from __future__ import annotations

import marshal
from typing import Any

import pytest

from dlprof.ingest.parse.marshalled import MarshalError, load


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4])
def test_tables_of_every_version_are_read(version: int) -> None:
    """Texts that are shared are texts at each place."""
    name = "grüße"
    table = {("a.py", 2, name): (1, 2**40, 0.25, -1, {("a.py", 2, name): (True, None)}), name: 5}

    assert load(marshal.dumps(table, version)) == table


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (marshal.dumps(compile("1", "x", "eval")), "a value of sort 'c'"),
        (marshal.dumps({1: (2, 3)})[:-3], "it ends in the middle"),
        (b"(\xff\xff\xff\x7f", "a tuple that is longer than the file"),
        (b"r\x05\x00\x00\x00", "value 5 is referred to before it is there"),
        (b")\x01" * 100 + b"N", "nested too deeply"),
        (b"{{00N0", "an end where a value was to be"),
        (b"{{0N0", "a key that is a dictionary"),
        (b"\xa9\x01r\x00\x00\x00\x00", "value 0 is referred to before it is there"),
        (b"", "it ends in the middle"),
    ],
)
def test_what_is_no_table_is_refused(data: Any, message: str) -> None:
    """With what is wrong."""
    with pytest.raises(MarshalError, match=message):
        load(data)
