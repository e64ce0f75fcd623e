"""GPUs that stand idle."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dlprof.analysis.findings import diagnose
from dlprof.pipeline.importing import import_files
from tests.unit import runs
from tests.unit.analysis.findings.cases import GPU, Planted, pick, quiet
from tests.unit.analysis.findings.foreign import abstained, found
from tests.unit.runs import MS, S


def planted() -> Planted:
    """12 of each 20 ms, for want of a launch."""
    gap = {"device": 0, "dur_ns": 12 * MS, "host_ns": 12 * MS, "launch_ns": 0, "wait_ns": 0, "window": 0}
    named = {"kernel": "mm", "blamed": "aten::item"}
    gaps = [{**gap, **named, "start_ns": 3 * S + n * 20 * MS + 8 * MS} for n in range(9)]
    return Planted(quiet(**runs.window(GPU), gpu_gaps=gaps))


def test_gaps_that_the_host_left_are_named_on_a_gpu(tmp_path: Path) -> None:
    """12 of each 20 ms, for want of a launch."""
    finding = pick(planted().diagnosis(tmp_path), "gpu-idle")

    assert "aten::item" in finding.claim


def test_a_real_trace_names_what_the_host_did() -> None:
    """281 ms of the host of 675 that are idle; the rest was launched already."""
    finding = found("hta_rank0.json.gz", "gpu-idle")

    assert finding is not None
    assert finding.at_stake_ns / MS == pytest.approx(281.4, rel=0.01)
    assert "idle for 55 % of the 1.22 s" in finding.claim
    assert "281 ms because the host had launched nothing (longest during ## backward ##: 153 ms)" in finding.claim


def test_a_device_that_waits_for_other_streams_does_not_wait_for_the_host() -> None:
    """It is idle for 98 % of the time, of which the host left less than a millisecond."""
    assert found("tracelens_mi300x_sglang_decode.json.gz", "gpu-idle") is None
    assert abstained("mxnet_gluon.json.gz", "gpu-idle") == "no kernel ran on a GPU"


def test_functions_of_python_of_a_trace_of_jax_are_what_the_host_did() -> None:
    """Its profiler traced them."""
    finding = found("tracelens_jax_gemm_mi300x.xplane.pb", "gpu-idle")

    assert finding is not None
    assert "(longest during dispatch.py(87): apply_primitive: 3.71 ms)" in finding.claim


def test_a_trace_that_does_not_show_the_host_names_no_cause_of_its_gaps(tmp_path: Path) -> None:
    """Launches are in it, what the host did before them is not."""
    planes = {1: "/device:GPU:0", 2: "/host:CPU"}
    names = [{"ph": "M", "pid": pid, "name": "process_name", "args": {"name": name}} for pid, name in planes.items()]
    line = {"ph": "M", "pid": 1, "tid": 7, "name": "thread_name", "args": {"name": "Stream #7"}}
    launches = [
        {
            "ph": "X",
            "pid": pid,
            "tid": 7,
            "name": name,
            "ts": at,
            "dur": dur,
            "args": {"correlation_id": str(at // 10_000)},
        }
        for begin in range(0, 100_000, 10_000)
        for pid, name, at, dur in ((2, "hipLaunchKernel", begin, 10), (1, "gemm", begin + 20, 5_000))
    ]
    path = tmp_path / "vm.trace.json"
    path.write_text(json.dumps({"traceEvents": [*names, line, *launches]}))
    run = import_files([path], tmp_path / "run", reader=None, report=lambda _: None)
    finding = next(one for one in diagnose.diagnose(run).findings if one.slug == "gpu-idle")

    assert finding.heading == "The GPU had nothing to run, and the trace does not tell why"
    assert finding.next_step.startswith("Record the host, too")


def test_time_of_other_causes_is_not_claimed_again() -> None:
    """Of 12.9 s that the device of this trace was idle, 8.5 s were allocation's."""
    finding = found("hta_a100_alexnet.json.gz", "gpu-idle")

    assert finding is not None
    assert finding.at_stake_ns / MS == pytest.approx(4372.9, rel=0.01)
