"""Compiled steps that call Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dlprof.analysis.findings import diagnose
from tests.unit import runs
from tests.unit.analysis.findings.cases import (
    FIT,
    Call,
    Tables,
    diagnosed,
    keep_source,
    on,
    pick,
    quiet,
    sampled,
    slugs,
)
from tests.unit.runs import S

CALLBACK: list[Call] = [("_wrapped_callback", "jax/_src/callback.py", 815), ("<lambda>", "train.py", 16)]


def calling(*frames: Call, thread: str = "pjrt") -> Tables:
    """6 s of steps, in 2 of which a thread stands in these frames."""
    beside = sampled((2, 4, list(frames)), thread=thread)
    main = sampled((2, 8, FIT))
    for row in main["stacks"]:
        row["stack_id"] = 7
    for row in main["frames"]:
        row["stack_id"] = 7
    fit = runs.fit_span(training={"jit_compile": True})
    return quiet(spans=[fit], stacks=[*beside["stacks"], *main["stacks"]], frames=[*beside["frames"], *main["frames"]])


CUSTOM: list[Call] = [("forward_entry", "mxnet/operator.py", 881), ("forward", "train.py", 16)]


@pytest.mark.parametrize(("backend", "stack"), [("jax", CALLBACK), ("mxnet", CUSTOM)])
def test_python_that_a_compiled_step_calls_is_named_with_its_line(
    tmp_path: Path, backend: str, stack: list[Call]
) -> None:
    """False before: that it makes batches, as it runs on a thread of the engine's."""
    diagnosis = diagnosed(tmp_path / "r", on(backend), **calling(*stack))
    finding = pick(diagnosis, "python-overhead")

    assert finding.heading == "The compiled step called back into Python"
    assert finding.at_stake_ns == pytest.approx(2 * S, rel=0.01)
    assert (finding.file, finding.line) == ("train.py", 16)
    assert "input-bound" not in slugs(diagnosis)


@pytest.mark.parametrize(("kernels_ms", "at_stake"), [(10, 3 * S), (4, 2 * S)])
def test_what_a_step_waits_for_besides_is_handing_values_over(kernels_ms: int, at_stake: int, tmp_path: Path) -> None:
    """The function is seen for 2 s, and no operator runs for 3: most of that. Of 4.8 s it is less than half."""
    kernel = {"op": "dot.3", "category": "matmul", "ms": kernels_ms}
    tables = calling(*CALLBACK) | runs.window([kernel])
    finding = pick(diagnosed(tmp_path / "r", on("jax"), **tables), "python-overhead")

    assert finding.at_stake_ns == pytest.approx(at_stake, rel=0.01)


@pytest.mark.parametrize(("seen_s", "at_stake"), [(2, 4.8), (1, 1)])
def test_while_the_main_thread_stands_in_the_compiled_step_it_waits_for_the_function(
    seen_s: int, at_stake: float, tmp_path: Path
) -> None:
    """No operator runs for 4.8 s, and the function is seen for two fifths of them: enough. One fifth is not."""
    detail = json.dumps({"compiled": {"function": "update", "again": False}})
    spans = [
        runs.fit_span(training={"jit_compile": True}),
        runs.span("graph_compile", 1.0, 1.5, span_id=9, detail=detail),
    ]
    beside = sampled((2, 2 + seen_s, CALLBACK), thread="pjrt")
    main = sampled((8, 8, CALLBACK), (2, 8, [("<module>", "train.py", 1)]))
    stacks = [*beside["stacks"], main["stacks"][1]]
    frames = [*beside["frames"], *(row for row in main["frames"] if row["stack_id"] == 1)]
    tables = quiet(spans=spans, stacks=stacks, frames=frames)
    window = runs.window([{"op": "dot.3", "category": "matmul", "ms": 4}])
    run = runs.trained(tmp_path / "r", on("jax"), **tables | window)
    keep_source(run, "params = update(params)\n")

    finding = pick(diagnose.diagnose(run), "python-overhead")
    assert finding.at_stake_ns == pytest.approx(at_stake * S, rel=0.01)


def test_other_threads_of_the_user_s_are_no_callbacks(tmp_path: Path) -> None:
    """They make batches, or anything."""
    titles = [one.heading for one in diagnosed(tmp_path / "r", on("jax"), **calling(CALLBACK[1])).findings]

    assert "The compiled step called back into Python" not in titles
