"""Databases of rocprofv3."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from dlprof.ingest.formats import registry, rocpd
from tests.unit.ingest.imports import imported, rows

COMMON = """
CREATE TABLE rocpd_string_7 (id, string);
INSERT INTO rocpd_string_7 VALUES (1, 'hipLaunchKernel'), (2, 'MARKER_CORE_API'), (3, 'step 1'), (4, 'HIP_RUNTIME_API'),
    (5, 'MEMORY_COPY_HOST_TO_DEVICE');
CREATE TABLE rocpd_info_agent_7 (id, type, type_index, product_name, name);
INSERT INTO rocpd_info_agent_7 VALUES (10, 'CPU', 0, 'EPYC', 'cpu'), (11, 'GPU', 0, 'AMD Instinct MI300X', 'gfx942');
CREATE TABLE rocpd_info_kernel_symbol_7 (id, kernel_name, display_name);
INSERT INTO rocpd_info_kernel_symbol_7 VALUES (20, '_Z3addv', 'add()');
CREATE TABLE rocpd_event_7 (id, stack_id, category_id);
INSERT INTO rocpd_event_7 VALUES (30, 100, NULL), (31, 100, 4), (32, 200, 2), (33, 300, NULL);
"""
SCHEMA_3 = """
CREATE TABLE rocpd_kernel_dispatch_7 (id, nid, pid, tid, agent_id, kernel_id, queue_id, stream_id, start, "end", event_id);
INSERT INTO rocpd_kernel_dispatch_7 VALUES (1, 1, 1, 5, 11, 20, 2, 1, 1500, 1900, 30);
CREATE TABLE rocpd_region_7 (id, nid, pid, tid, start, "end", name_id, event_id);
INSERT INTO rocpd_region_7 VALUES (1, 1, 1, 5, 1000, 1100, 1, 31), (2, 1, 1, 5, 900, 2000, 3, 32);
CREATE TABLE rocpd_memory_copy_7 (id, start, "end", name_id, dst_agent_id, src_agent_id, size, queue_id, event_id);
INSERT INTO rocpd_memory_copy_7 VALUES (1, 1200, 1300, 5, 11, 10, 4096, 3, 33);
"""
SCHEMA_4 = """
CREATE TABLE rocpd_track_7 (id, tid, agent_id, queue_id);
INSERT INTO rocpd_track_7 VALUES (40, 5, 11, 2), (41, 5, NULL, NULL), (42, NULL, NULL, 3);
CREATE TABLE rocpd_timestamp_7 (id, value, track_id);
INSERT INTO rocpd_timestamp_7 VALUES (1, 1500, 40), (2, 1900, 40), (3, 1000, 41), (4, 1100, 41), (5, 900, 41),
    (6, 2000, 41), (7, 1200, 42), (8, 1300, 42);
CREATE TABLE rocpd_kernel_dispatch_7 (id, track_id, kernel_id, start_id, end_id, event_id);
INSERT INTO rocpd_kernel_dispatch_7 VALUES (1, 40, 20, 1, 2, 30);
CREATE TABLE rocpd_region_7 (id, track_id, name_id, start_id, end_id, event_id);
INSERT INTO rocpd_region_7 VALUES (1, 41, 1, 3, 4, 31), (2, 41, 3, 5, 6, 32);
CREATE TABLE rocpd_memory_copy_7 (id, track_id, start_id, end_id, name_id, dst_agent_id, src_agent_id, size, event_id);
INSERT INTO rocpd_memory_copy_7 VALUES (1, 42, 7, 8, 5, 11, 10, 4096, 33);
"""
"""As the tables that rocprofiler-sdk makes (`share/rocprofiler-sdk-rocpd`), without what is not read."""


@pytest.mark.parametrize("schema", [SCHEMA_3, SCHEMA_4])
def test_both_schemas_give_the_same(tmp_path: Path, schema: str) -> None:
    """A kernel is linked to its call by the stack that both have; a region of a marker is a range."""
    path = tmp_path / "results.db"
    with sqlite3.connect(path) as database:
        database.executescript(COMMON + schema)
    database.close()
    assert registry.find(path) is rocpd.READER

    run = imported(tmp_path, path)

    query = "SELECT kind, name, device, lane, start_ns, dur_ns, delay_ns, bytes FROM kernels ORDER BY start_ns"
    assert rows(run, query) == [
        ("annotation", "step 1", "cpu", "5", 0, 1100, None, None),
        ("runtime", "hipLaunchKernel", "cpu", "5", 100, 100, None, None),
        ("transfer", "MEMORY_COPY_HOST_TO_DEVICE", "gpu:0", "stream 3", 300, 100, None, 4096),
        ("kernel", "add()", "gpu:0", "stream 2", 600, 400, 500, None),
    ]
    assert [gpu.name for gpu in run.manifest.gpus or ()] == ["AMD Instinct MI300X"]


def test_each_process_has_its_own_calls(tmp_path: Path) -> None:
    """Its tables number them by themselves: a kernel is linked to a call of its own process."""
    later = (
        (COMMON + SCHEMA_3)
        .replace("_7 ", "_8 ")
        .replace("1500, 1900", "2500, 2900")
        .replace("1000, 1100", "2300, 2400")
    )
    told = "CREATE TABLE rocpd_info_process_8 (id, pid, command); INSERT INTO rocpd_info_process_8 VALUES (1, 77, 'train');"
    path = tmp_path / "results.db"
    with sqlite3.connect(path) as database:
        database.executescript(COMMON + SCHEMA_3 + later + told)
    database.close()

    run = imported(tmp_path, path)

    assert rows(run, "SELECT delay_ns FROM kernels WHERE kind = 'kernel' ORDER BY start_ns") == [(500,), (200,)]
    assert [row["file"] for row in run.rows("sources")] == ["results.db (7)", "results.db (train, process 77)"]
