"""Reads `raw/gpu.jsonl` into the table gpu."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from dlprof.ingest.artifact import ArtifactError, Health, ProcessId
from dlprof.ingest.own import jsonl
from dlprof.schema.tables import TABLES

FORMAT = "dlprof.gpu/1"
_PIECE = 1 << 14
"""Rows of a piece."""


@dataclass(frozen=True)
class GpuSeries:
    """What the file holds.

    Attributes:
        table: Table `gpu`.
        health: What the user must know.
        header: Names of the GPUs, driver.
        whole: Whether the sampler finished it.
    """

    table: pa.Table
    health: list[Health]
    header: dict[str, Any]
    whole: bool


def read(path: Path, process: ProcessId) -> GpuSeries:
    """The series of all GPUs.

    Raises:
        NothingRecordedError: The file is empty.
        ArtifactError: The file is damaged or of another format.
    """
    lines = jsonl.read(path, FORMAT)
    try:
        pieces = list(_pieces(lines, process))
    except (KeyError, TypeError, ValueError, OverflowError, pa.ArrowException) as error:
        raise ArtifactError(f"damaged row: {error}", path=path) from error
    table = pa.concat_tables([TABLES["gpu"].empty_table(), *pieces])
    health = lines.health("the GPUs")
    for missing in (lines.trailer or {}).get("missing", []):
        text = f"GPU {missing['gpu']}: {missing['metric']} was not measured: {missing['reason']}."
        health.append(Health("gpu-metric-unsupported", "info", text))
    return GpuSeries(table, health, lines.header, lines.trailer is not None)


def _pieces(lines: jsonl.Lines, process: ProcessId) -> Iterator[pa.Table]:
    """The rows, as tables of some thousand: as dictionaries they are large."""
    columns, rows = lines.header["columns"], iter(lines)
    while piece := list(islice(rows, _PIECE)):
        told = (
            {"time_ns": time_ns - process.origin_ns, "gpu": gpu, **dict(zip(columns, values, strict=True))}
            for time_ns, gpu, *values in piece
        )
        yield pa.Table.from_pylist(list(told), schema=TABLES["gpu"])
