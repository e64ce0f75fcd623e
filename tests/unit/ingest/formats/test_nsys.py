"""Exports of Nsight Systems."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from dlprof.store import query
from tests.unit.ingest.imports import imported


@pytest.mark.parametrize("older", [True, False])
def test_nsight_systems_is_read_in_both_layouts(tmp_path: Path, older: bool) -> None:
    """Version 2 lacks tables and columns that version 3 has."""
    path = tmp_path / "report.sqlite"
    with sqlite3.connect(path) as database:
        database.executescript(
            f"""
            CREATE TABLE StringIds (id INTEGER, value TEXT);
            INSERT INTO StringIds VALUES (1, 'saxpy'), (2, 'cudaLaunchKernel_v7000'), (3, 'forward');
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, demangledName);
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (500, 900, 0, 7, 1, 1);
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);
            INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100, 200, 281474993487873, 1, 2);
            CREATE TABLE NVTX_EVENTS (start, end, eventType, globalTid, {"text" if older else "text, textId"});
            INSERT INTO NVTX_EVENTS VALUES (50, 300, 59, 281474993487873, {"'forward'" if older else "NULL, 3"}),
                (0, NULL, 75, 281474993487873, {"'domain'" if older else "'domain', NULL"});
            CREATE TABLE {"EXPORT_META_DATA" if older else "META_DATA_EXPORT"} (name, value);
            """
        )
    database.close()
    run = imported(tmp_path, path)

    rows = query.ask(run, "SELECT name, op, dur_ns, delay_ns FROM kernels WHERE kind = 'kernel'").rows
    assert rows == [("saxpy", "forward", 400, 400)]


def test_processes_of_one_report_are_told_apart(tmp_path: Path) -> None:
    """As ranks below one `nsys profile`: calls of both have the same numbers, and each launched its own kernel."""
    first, second = 41 << 24 | 1 << 48, 42 << 24 | 1 << 48
    path = tmp_path / "report.sqlite"
    with sqlite3.connect(path) as database:
        database.executescript(
            f"""
            CREATE TABLE StringIds (id INTEGER, value TEXT);
            INSERT INTO StringIds VALUES (1, 'saxpy'), (2, 'cudaLaunchKernel_v7000'), (3, 'idle thread');
            CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs);
            CREATE TABLE ThreadNames (globalTid, nameId);
            INSERT INTO ThreadNames VALUES ({43 << 24 | 1 << 48}, 3);
            CREATE TABLE PROCESSES (globalPid, pid, name);
            INSERT INTO PROCESSES VALUES ({first}, 41, 'python'), ({second}, 42, 'python');
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL
                (start, end, deviceId, streamId, correlationId, demangledName, globalPid);
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (500, 900, 0, 7, 1, 1, {first}), (700, 800, 0, 7, 1, 1, {second});
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);
            INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100, 200, {first + 41}, 1, 2), (600, 650, {second + 42}, 1, 2);
            """
        )
    database.close()
    run = imported(tmp_path, path)

    rows = query.ask(run, "SELECT pid, dur_ns, delay_ns FROM kernels WHERE kind = 'kernel' ORDER BY pid").rows
    assert rows == [(41, 400, 400), (42, 100, 100)]
    assert [row["file"] for row in run.rows("sources")] == [
        "report.sqlite (python, process 41)",
        "report.sqlite (python, process 42)",
    ]
