"""Times of frames in other units."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest

import dlprof
from dlprof.errors import UsageError
from dlprof.notebook.time_units import UNITS


def frame() -> pd.DataFrame:
    """Two times, one of which was not measured, and a count."""
    table = pa.table({"start_ns": pa.array([0, 1_500_000]), "dur_ns": pa.array([2_000_000, None]), "hits": [1, 2]})
    return table.to_pandas(types_mapper=pd.ArrowDtype)


@pytest.mark.parametrize(("unit", "factor"), [("us", 1e3), ("ms", 1e6), ("s", 1e9)])
def test_columns_of_nanoseconds_get_the_unit_and_its_name(unit: str, factor: float) -> None:
    """Others stay; so does the frame itself."""
    before = frame()

    after = dlprof.in_unit(before, unit)  # type: ignore[arg-type]

    assert list(after.columns) == [f"start_{unit}", f"dur_{unit}", "hits"]
    assert list(after[f"start_{unit}"]) == [0.0, 1_500_000 / factor]
    assert list(after["hits"]) == [1, 2]
    assert list(before.columns) == ["start_ns", "dur_ns", "hits"]


def test_what_was_not_measured_stays_so() -> None:
    """It is no zero, and no NaN."""
    after = dlprof.in_unit(frame(), "ms")

    assert after["dur_ms"].isna().tolist() == [False, True]
    assert after.loc[1, "dur_ms"] is pd.NA


def test_an_index_of_times_is_converted_too() -> None:
    """As that of the machine's samples."""
    after = dlprof.in_unit(frame().set_index("start_ns"), "ms")

    assert (after.index.name, list(after.index)) == ("start_ms", [0.0, 1.5])


def test_nanoseconds_are_as_they_are_stored() -> None:
    """Whole numbers."""
    after = dlprof.in_unit(frame(), "ns")

    assert after["dur_ns"].dtype == pd.ArrowDtype(pa.int64())
    assert UNITS == ("ns", "us", "ms", "s")


def test_a_unit_that_there_is_not_is_refused() -> None:
    """With those that there are."""
    with pytest.raises(UsageError) as told:
        dlprof.in_unit(frame(), "minutes")  # type: ignore[arg-type]

    assert told.value.hint == "ns, us, ms, s"


@pytest.mark.parametrize("unit", ["us", "ms", "s"])
def test_times_in_any_unit_can_be_had_in_any_other(unit: str) -> None:
    """In ns they are whole numbers again, as they were stored."""
    again = dlprof.in_unit(dlprof.in_unit(frame(), unit), "ns")  # type: ignore[arg-type]

    assert list(again.columns) == ["start_ns", "dur_ns", "hits"]
    assert again["start_ns"].tolist() == [0, 1_500_000]
    assert again["dur_ns"].dtype == pd.ArrowDtype(pa.int64())
    assert again["dur_ns"].isna().tolist() == [False, True]


def test_seconds_become_milliseconds() -> None:
    """Not left as they are."""
    seconds = pd.DataFrame({"dur_s": [1.5, 2.0]}, index=pd.Index([0.25, 1.0], name="time_s"))

    after = dlprof.in_ms(seconds)

    assert (after.index.name, after.index.tolist()) == ("time_ms", [250.0, 1000.0])
    assert after["dur_ms"].tolist() == [1500.0, 2000.0]


def test_rates_and_texts_are_no_times() -> None:
    """Whatever their names end with."""
    other = pd.DataFrame({"flops_per_s": [3.0], "called_s": ["a"], "_s": [1.0]})

    assert dlprof.in_ms(other).to_dict("list") == {"flops_per_s": [3.0], "called_s": ["a"], "_s": [1.0]}


@pytest.mark.parametrize("value", [3, None, [1]])
def test_what_is_no_frame_is_refused(value: object) -> None:
    """In a sentence."""
    with pytest.raises(UsageError, match="Times are in a frame of pandas"):
        dlprof.in_ms(value)


def test_a_unit_that_is_no_text_is_refused() -> None:
    """As one that there is not."""
    with pytest.raises(UsageError, match="There is no unit None of time"):
        dlprof.in_unit(frame(), None)  # type: ignore[arg-type]
