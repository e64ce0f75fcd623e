"""Databases of nvprof."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from dlprof.analysis import gpu_idle
from dlprof.store import query
from tests.unit.ingest.imports import imported


def nvprof_file(path: Path) -> Path:
    """A database of nvprof with two kernels, a copy, their calls and a range."""
    with sqlite3.connect(path) as database:
        database.executescript(
            """
            CREATE TABLE StringTable (_id_ INTEGER, value TEXT);
            INSERT INTO StringTable VALUES (1, 'sgemm'), (2, '{''mod'': ''F'', ''op'': ''linear'', ''args'': []}');
            CREATE TABLE CUPTI_ACTIVITY_KIND_DRIVER (x INTEGER);
            CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start, end, deviceId, streamId, correlationId, name);
            INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (2000000000000001000, 2000000000000003000, 0, 7, 11, 1),
                (2000000000000006000, 2000000000000007000, 0, 7, 12, 1);
            CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId, correlationId, bytes, copyKind);
            INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (2000000000000009000, 2000000000000009500, 0, 7, 13, 64, 2);
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, threadId, correlationId, cbid);
            INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (2000000000000000400, 2000000000000000600, 5, 11, 211),
                (2000000000000005500, 2000000000000005700, 5, 12, 211), (2000000000000008000, 2000000000000008100, 5, 13, 41);
            CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (timestamp, id, name, objectId, flags);
            INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (2000000000000000100, 1, 2, x'010000000500000000000000', 2),
                (2000000000000004000, 1, 0, x'010000000500000000000000', 4);
            """
        )
    database.close()
    return path


def test_a_database_of_nvprof_gives_launches_ranges_and_gaps(tmp_path: Path) -> None:
    """The range names the operator; each gap is split at the launch of the kernel that ended it."""
    run = imported(tmp_path, nvprof_file(tmp_path / "net.sql"))

    rows = query.ask(
        run, "SELECT name, op, kind, dur_ns, delay_ns, bytes FROM kernels WHERE device = 'gpu:0' ORDER BY start_ns"
    ).rows
    assert rows == [
        ("sgemm", "F.linear", "kernel", 2000, 600, None),
        ("sgemm", None, "kernel", 1000, 500, None),
        ("memcpy DtoH", None, "transfer", 500, 1000, 64.0),
    ]
    gaps = query.ask(run, "SELECT dur_ns, host_ns, launch_ns, wait_ns FROM gpu_gaps ORDER BY start_ns").rows
    assert gaps == [(3000, 2500, 500, 0), (2000, 1000, 750, 250)]
    idle = gpu_idle.of_run(run)[0]
    assert (idle.span_ns, idle.idle_ns, idle.gaps) == (8500, 5000, 2)
