"""Databases of rocmProfileData."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

from dlprof.ingest.formats import registry, rpd
from tests.unit.ingest.imports import DATA, imported, rows


def test_kernels_copies_and_calls_are_those_of_the_database(tmp_path: Path) -> None:
    """Sums are those of its own views `op` and `api`; each operation has the call that launched it."""
    path = DATA / "rpd_matmul.rpd"
    assert registry.find(path) is rpd.READER

    run = imported(tmp_path, path)

    query = (
        "SELECT kind, device, count(*), sum(dur_ns), sum(bytes), count(delay_ns) FROM kernels GROUP BY ALL ORDER BY 1"
    )
    assert rows(run, query) == [
        ("kernel", "gpu:2", 29, 26_399_795, None, 29),
        ("runtime", "cpu", 125, 457_761_358, None, 0),
        ("transfer", "gpu:2", 56, 157_518_261, 2_032_000_296, 56),
    ]


def test_what_is_no_event_of_the_program_is_counted(tmp_path: Path) -> None:
    """Clocks and temperatures of the device."""
    run = imported(tmp_path, DATA / "rpd_matmul.rpd")

    assert [(row["what"], row["events"]) for row in run.rows("skipped")] == [("rows of rocpd_monitor", 15)]


def test_programs_that_share_a_database_are_told_apart(tmp_path: Path) -> None:
    """What ran on a device is of the process that called for it; here the calls from some time on are another's."""
    path = tmp_path / "trace.rpd"
    shutil.copy(DATA / "rpd_matmul.rpd", path)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE rocpd_api SET pid = 7 WHERE id <= 60")
    database.close()

    run = imported(tmp_path, path)

    query = "SELECT pid = 7, kind, count(*), count(delay_ns) FROM kernels GROUP BY ALL ORDER BY 1 DESC, 2"
    assert rows(run, query) == [
        (True, "kernel", 23, 23),
        (True, "runtime", 60, 0),
        (True, "transfer", 4, 4),
        (False, "kernel", 6, 6),
        (False, "runtime", 65, 0),
        (False, "transfer", 52, 52),
    ]
    assert len(run.rows("sources")) == 2
