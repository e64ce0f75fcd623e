"""Stored tables as the schema has them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dlprof.schema.tables import TABLES
from dlprof.store import conform
from dlprof.store.conform import UnfitError

GOOD: dict[str, Any] = {"loop_id": [1], "epoch": [0], "start_ns": [0], "dur_ns": [5], "steps": [2]}


def conformed(**changes: Any) -> pa.Table:
    """The table `epochs` with other columns."""
    columns = {name: one for name, one in {**GOOD, **changes}.items() if one is not None}
    return conform.conformed("epochs", pa.table(columns), TABLES["epochs"].names)


def test_columns_get_the_types_of_the_schema() -> None:
    """In its order; those that are missing are null, others are left out."""
    found = conformed(own=["x"], host=["h"])

    assert found.schema.equals(TABLES["epochs"])
    assert found.to_pylist()[0] == {
        "host": "h", "rank": None, "pid": None, "loop_id": 1, "epoch": 0, "start_ns": 0, "dur_ns": 5, "steps": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"epoch": ["1"]}, "its column epoch is of type string, not int32"),
        ({"epoch": [1.0]}, "its column epoch is of type double, not int32"),
        ({"epoch": [2**40]}, "its column epoch is no int32"),
        ({"host": [7]}, "its column host is of type int64, not dictionary"),
        ({"dur_ns": [-1]}, "its column dur_ns holds negative numbers"),
        ({"dur_ns": None}, "its column dur_ns lacks values"),
        ({"start_ns": pa.array([None], pa.int64())}, "its column start_ns lacks values"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], why: str) -> None:
    """The sentence names the column."""
    with pytest.raises(UnfitError) as refused:
        conformed(**changes)

    assert str(refused.value).startswith(why)


def test_text_that_is_no_utf_8_is_refused() -> None:
    """Whatever prints it would fail."""
    ends = b"".join(end.to_bytes(4, "little") for end in (0, 2))
    broken = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(ends), pa.py_buffer(b"\xff\xfe")])

    with pytest.raises(UnfitError, match="its column host holds what is no text"):
        conformed(host=broken)


def test_samples_that_are_no_number_are_not_known() -> None:
    """Null, as what was not measured."""
    columns = {"time_ns": [1, 2, 3], "interval_ns": [1, 1, 1], "core": [0, 0, 0]}
    table = pa.table({**columns, "busy_pct": pa.array([float("nan"), float("inf"), 5.0], pa.float32())})

    assert conform.conformed("cores", table, ["busy_pct"])["busy_pct"].to_pylist() == [None, None, 5.0]


def test_words_that_are_not_of_the_vocabulary_are_refused() -> None:
    """What asks for them would fail; that of an older dlprof is known."""
    old = pa.table({"how": ["counted"]})
    table = pa.table({"how": ["guessed"]})

    assert conform.conformed("lines", old, ["how"])["how"].to_pylist() == ["counted"]
    with pytest.raises(UnfitError, match="its column how holds other words than exact, scaled, sampled"):
        conform.conformed("lines", table, ["how"])


def test_where_the_machine_tells_no_memory_a_table_of_many_rows_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """As without `/proc`."""

    def missing() -> None:
        raise FileNotFoundError

    monkeypatch.setattr("psutil.virtual_memory", missing)
    file = cast("pq.ParquetFile", SimpleNamespace(metadata=SimpleNamespace(num_rows=1 << 40)))

    conform.refuse_huge(file, TABLES["epochs"])
    monkeypatch.undo()

    with pytest.raises(UnfitError, match="1,099,511,627,776 rows"):
        conform.refuse_huge(file, TABLES["epochs"])
