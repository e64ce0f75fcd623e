"""Pipelines of tf.data as the in-process probe told them: which data sets they are made of, and in which lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import msgspec

from dlprof.ingest.file_names import FileNames
from dlprof.ingest.kernels.input_stages import Dataset, DatasetGraph

_Line = Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]
_Time = Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]


class Told(msgspec.Struct, frozen=True, array_like=True):
    """A data set in that record: its class, the line that made it, the user's function, and what it reads from."""

    kind: str
    file: str
    line: _Line
    function: str | None
    inputs: Annotated[int, msgspec.Meta(ge=0)] | None = None


class Pipeline(msgspec.Struct, frozen=True):
    """A record of one pipeline (`dlprof_probes.wire.Record.DATASETS`); the time is the process's clock (ns)."""

    time_ns: _Time
    datasets: tuple[Told, ...]


def parse(payload: bytes) -> Pipeline:
    """A pipeline out of its record.

    Raises:
        ValueError: It makes no sense.
    """
    return msgspec.json.decode(payload, type=Pipeline)


def graphs(pipelines: Iterable[Pipeline], origin_ns: int, names: FileNames) -> tuple[DatasetGraph, ...]:
    """The same on the run's timeline, with files as tables name them."""
    return tuple(
        DatasetGraph(one.time_ns - origin_ns, tuple(_dataset(told, names) for told in one.datasets))
        for one in pipelines
    )


def _dataset(told: Told, names: FileNames) -> Dataset:
    file = names.short(told.file) if told.file else None
    return Dataset(told.kind, file, told.line or None, told.function, told.inputs)
