"""Rows and tables as pandas frames."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import dlprof
from dlprof.errors import UnavailableError
from dlprof.notebook import frames
from dlprof.notebook.views import RunView
from tests.unit import runs


def test_what_was_not_measured_is_na_and_a_loss_of_nan_is_nan(tmp_path: Path) -> None:
    """Two things that pandas is apt to confuse."""
    runs.trained(tmp_path / "a", metrics=runs.losses(float("nan"), 0.5))
    frame = dlprof.open(tmp_path / "a").metrics()

    assert frame["step"].isna().all()
    assert frame["value"].isna().tolist() == [False, False]
    assert math.isnan(frame["value"][0])
    assert frame["value"][1] == 0.5


def test_without_pandas_a_frame_says_what_to_install(trained: RunView, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, with the command."""
    monkeypatch.setitem(sys.modules, "pandas", None)

    with pytest.raises(UnavailableError, match=r"pandas is not installed\.") as caught:
        trained.phases()

    assert caught.value.hint == "pip install 'dlprof[notebook]'"


def test_rows_have_the_columns_that_are_asked_for() -> None:
    """Other keys are left out; what a row does not have is not known."""
    frame = frames.of_rows([{"a": 1, "b": "x"}, {"b": "y", "c": 2}], {"b": pa.string(), "a": pa.int64()})

    assert list(frame.columns) == ["b", "a"]
    assert frame["b"].to_list() == ["x", "y"]
    assert frame["a"].isna().to_list() == [False, True]
    assert str(frame["a"].dtype) == "int64[pyarrow]"


def test_no_rows_are_a_frame_with_its_columns() -> None:
    """So that what a notebook does with it works."""
    assert list(frames.of_rows([], {"a": pa.int64()}).columns) == ["a"]
