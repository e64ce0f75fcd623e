"""The JSON of rocprofv3."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats import registry, rocprof_json
from tests.unit.ingest.formats.samples import put
from tests.unit.ingest.imports import imported, rows


def record(kind: int, operation: int, begin: int, end: int, link: int, **more: Any) -> dict[str, Any]:
    """A record as `generateJSON.cpp` of rocprofiler-sdk writes it."""
    times = {"start_timestamp": begin, "end_timestamp": end, "thread_id": 41}
    return {"kind": kind, "operation": operation, "correlation_id": {"internal": link, "external": 0}, **times, **more}


DISPATCH = {"agent_id": {"handle": 77}, "queue_id": {"handle": 3}, "kernel_id": 9}
CONTENT: dict[str, Any] = {
    "rocprofiler-sdk-tool": [
        {
            "metadata": {"pid": 7},
            "agents": [
                {"id": {"handle": 5}, "type": 1, "name": "cpu"},
                {"id": {"handle": 77}, "type": 2, "logical_node_type_id": 1, "product_name": "AMD Instinct MI300X"},
            ],
            "kernel_symbols": [{"kernel_id": 9, "formatted_kernel_name": "add(float*)", "kernel_name": "_Z3addPf"}],
            "strings": {
                "buffer_records": [
                    {"kind": "NONE", "operations": []},
                    {"kind": "HIP_RUNTIME_API", "operations": ["hipLaunchKernel", "hipDeviceSynchronize"]},
                    {"kind": "MEMORY_COPY", "operations": ["MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_DEVICE"]},
                    {"kind": "MARKER_CORE_API", "operations": ["roctxRangePush"]},
                ],
                "marker_api": [{"key": 50, "value": "step 1"}],
            },
            "buffer_records": {
                "kernel_dispatch": [record(9, 0, 1500, 1900, 10, dispatch_info=DISPATCH)],
                "hip_api": [record(1, 0, 1000, 1100, 10), record(1, 1, 1200, 1950, 11)],
                "memory_copy": [
                    record(2, 1, 1300, 1400, 12, dst_agent_id={"handle": 77}, src_agent_id={"handle": 5}, bytes=64)
                ],
                "marker_api": [record(3, 0, 900, 2000, 50)],
                "scratch_memory": [record(4, 0, 1, 2, 0)],
            },
        }
    ]
}


def test_records_are_named_by_their_strings_and_linked_by_their_correlation(tmp_path: Path) -> None:
    """A GPU has its number among GPUs; a marker the text that the program gave."""
    path = put(tmp_path, json.dumps(CONTENT), "out.json")
    assert registry.find(path) is rocprof_json.READER

    run = imported(tmp_path, path)

    query = "SELECT kind, name, device, start_ns, dur_ns, delay_ns, bytes FROM kernels ORDER BY start_ns"
    assert rows(run, query) == [
        ("annotation", "step 1", "cpu", 0, 1100, None, None),
        ("runtime", "hipLaunchKernel", "cpu", 100, 100, None, None),
        ("wait", "hipDeviceSynchronize", "cpu", 300, 750, None, None),
        ("transfer", "HOST_TO_DEVICE", "gpu:1", 400, 100, None, 64),
        ("kernel", "add(float*)", "gpu:1", 600, 400, 500, None),
    ]
    assert [(row["what"], row["events"]) for row in run.rows("skipped")] == [("records of scratch_memory", 1)]


def test_processes_of_one_file_are_told_apart(tmp_path: Path) -> None:
    """Each counts its calls by itself."""
    (first,) = CONTENT["rocprofiler-sdk-tool"]
    kernel, call = record(9, 0, 2500, 2900, 10, dispatch_info=DISPATCH), record(1, 0, 2300, 2400, 10)
    second = {**first, "metadata": {"pid": 8}, "buffer_records": {"kernel_dispatch": [kernel], "hip_api": [call]}}
    path = put(tmp_path, json.dumps({"rocprofiler-sdk-tool": [first, second]}), "out.json")

    run = imported(tmp_path, path)

    query = "SELECT pid, delay_ns FROM kernels WHERE kind = 'kernel' ORDER BY pid"
    assert rows(run, query) == [(7, 500), (8, 200)]


@pytest.mark.parametrize(("old", "new"), [("1900", '"late"'), ("[{", "{"), ('"internal": 10', '"internal": []')])
def test_a_damaged_file_is_refused(tmp_path: Path, old: str, new: str) -> None:
    """With what is wrong in it."""
    with pytest.raises(ArtifactError, match="damaged"):
        imported(tmp_path, put(tmp_path, json.dumps(CONTENT).replace(old, new), "out.json"))
