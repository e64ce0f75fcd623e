"""Data sets of tf.data, and the lines that made them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc.engines import tensorflow_datasets
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.conftest import HERE, Recorded


class Data:
    """As `DatasetV2`."""

    def __init__(self, source: Data | None = None, function: Any = None) -> None:
        self.source = source
        self.function = function

    def _inputs(self) -> list[Data]:
        return [self.source] if self.source is not None else []

    def _functions(self) -> list[Any]:
        return [SimpleNamespace(_func=self.function)] if self.function is not None else []


class Mapped(Data):
    """One of its kinds."""


class Iterator:
    """As `OwnedIterator`."""

    def __init__(self, dataset: Any = None) -> None:
        self.dataset = dataset


@pytest.fixture
def watched(probe: Probe) -> None:
    """Both are listened to."""
    tensorflow_datasets.watch(probe, Data, Iterator)


def load(x: int) -> int:
    """The user's."""
    return x


def test_a_pipeline_is_told_when_it_is_first_iterated(watched: None, out: Recorded) -> None:
    """Each data set before what it reads from, with its line and the user's function; once."""
    mapped = Mapped(Data(), load)
    line = load.__code__.co_firstlineno + 7
    Iterator(mapped)
    Iterator(mapped)

    (told,) = out.stream().datasets
    assert [(one.kind, one.file.startswith(HERE), one.line, one.function, one.inputs) for one in told.datasets] == [
        ("Mapped", True, line, "load", 1),
        ("Data", True, line, None, 0),
    ]


def test_what_is_no_data_set_is_passed_over(watched: None, out: Recorded) -> None:
    """Iterators are made of other things, too; functions of libraries are not the user's."""
    Iterator()
    Iterator([1, 2])
    Iterator(Mapped(None, len))

    (told,) = out.stream().datasets
    assert [one.function for one in told.datasets] == [None]
    assert out.notes() == []
