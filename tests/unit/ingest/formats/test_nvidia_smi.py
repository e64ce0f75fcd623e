"""Logs of nvidia-smi."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dlprof.errors import UsageError
from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats import nvidia_smi
from dlprof.ingest.formats import registry as formats
from tests.unit.ingest.formats.samples import (
    SMI,
    put,
)
from tests.unit.ingest.imports import DATA, imported, rows


def test_the_log_of_nvidia_smi_gives_the_table_gpu() -> None:
    """Rows, utilisation and memory are those of the file; local time is taken as UTC, and that is said."""
    foreign = nvidia_smi.read(DATA / "nvidia_smi.csv")

    table = foreign.tables["gpu"]
    used = np.asarray(table["utilisation_pct"])
    assert foreign.facts == {"gpus": [{"gpu": 0, "name": "Tesla V100S-PCIE-32GB"}], "rows": 107}
    assert (table.num_rows, used.max(), round(float(used.mean()), 4), int((used > 0).sum())) == (107, 19.0, 3.6729, 54)
    assert max(table["memory_used_bytes"].to_pylist()) == 1094 << 20
    assert table["time_ns"].to_pylist()[-1] == 106_053_000_000
    assert foreign.zero_ns == 1_749_774_472_195_000_000
    assert [(entry.slug, entry.severity) for entry in foreign.health] == [("clock-local-time", "info")]


def test_what_nvidia_smi_could_not_measure_is_null(tmp_path: Path) -> None:
    """Two GPUs; unknown columns are passed over, and what was not asked for is null too."""
    rows = nvidia_smi.read(put(tmp_path, SMI)).tables["gpu"].to_pylist()

    names = ("time_ns", "gpu", "utilisation_pct", "memory_used_bytes", "power_w", "sm_clock_mhz", "temperature_c")
    assert [tuple(row[name] for name in names) for row in rows] == [
        (0, 0, 5.0, 10 << 20, 25.5, 1290.0, None),
        (0, 1, None, None, None, 1300.0, None),
        (1_500_000_000, 0, 7.0, 12 << 20, 26.0, 1290.0, None),
    ]


def test_a_log_that_was_stopped_in_a_row_is_read_up_to_it(tmp_path: Path) -> None:
    """nvidia-smi is ended by a signal; a row that is cut anywhere else is damage."""
    foreign = nvidia_smi.read(put(tmp_path, SMI + "2025/01/01 00:00:02.0"))

    assert (foreign.facts["rows"], [entry.slug for entry in foreign.health][1:]) == (3, ["row-cut"])
    with pytest.raises(ArtifactError, match="line 5: 1 columns instead of 7"):
        nvidia_smi.read(put(tmp_path, SMI + "2025/01/01 00:00:02.0\n\n" + SMI))


def test_a_log_without_a_header_is_refused_with_what_to_do(tmp_path: Path) -> None:
    """Without the header nobody knows which column is which."""
    path = put(tmp_path, "".join(SMI.splitlines(keepends=True)[1:]))

    assert nvidia_smi.claims(formats.sample(path))
    with pytest.raises(ArtifactError, match="there is no header: name the columns.*--columns"):
        nvidia_smi.read(path)


def test_a_log_without_a_header_is_read_with_its_columns_named(tmp_path: Path) -> None:
    """As --query-gpu had them; the older of two names is the same column, and one that nobody keeps is counted."""
    log = "2025/01/01 00:00:00.000, GPU-1, 5 %, 10 MiB, 30 %\n2025/01/01 00:00:01.500, GPU-1, 7 %, 12 MiB, 30 %\n"
    columns = ["timestamp", "gpu_uuid", "utilization.gpu", "memory.used", "fan.speed"]
    run = imported(tmp_path, put(tmp_path, log, "gpu.csv"), columns=columns)

    assert rows(run, "SELECT time_ns, gpu, utilisation_pct, memory_used_bytes FROM gpu ORDER BY time_ns") == [
        (0, 0, 5.0, 10 << 20),
        (1_500_000_000, 0, 7.0, 12 << 20),
    ]
    assert [(row["what"], row["events"]) for row in run.rows("skipped")] == [("values of fan.speed", 2)]


def test_columns_without_a_time_or_for_other_formats_are_refused(tmp_path: Path) -> None:
    """With what is known."""
    log = put(tmp_path, "2025/01/01 00:00:00.000, 5 %\n", "gpu.csv")

    with pytest.raises(UsageError, match="--columns needs timestamp"):
        imported(tmp_path, log, columns=["utilization.gpu", "power.draw"])
    with pytest.raises(UsageError, match="no file is of a format that takes it"):
        imported(tmp_path, DATA / "hta_a100_triton.json.gz", columns=["timestamp"])
