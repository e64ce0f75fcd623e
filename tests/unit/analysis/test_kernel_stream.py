"""Sums of more executions than there is memory for."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from dlprof.analysis import kernels
from dlprof.store.run import Run
from tests.unit.analysis.rows import in_memory
from tests.unit.runs import table


def run() -> Run:
    """500 executions that nest, overlap and come in no order: of six operators, on the host and on two devices."""
    random = np.random.default_rng(5)
    ops: list[dict[str, Any]] = [
        {"op_id": n, "kind": "operator" if n == 5 else "kernel", "name": f"k{n % 4}", "op": f"op{n % 3}",
         "category": f"c{n % 2}", "layer": f"layer{n % 2}" if n else None, "direction": "forward",
         "flops": 2.0 * n, "bytes": 3.0 if n < 4 else None}
        for n in range(6)
    ]  # fmt: skip
    op = random.integers(0, 6, 500)
    events = [
        {"op_id": int(one), "device": -1 if one == 5 else int(one % 2), "lane": "t", "start_ns": int(start), "step": step,
         "dur_ns": 100 + int(dur), "nested_ns": int(nested), "delay_ns": int(delay) if one != 5 and delay > 50 else None,
         "phase": "fit.steps" if step else "script", "window": 0}
        for one, start, step, dur, nested, delay in zip(
            op, random.integers(0, 9000, 500), random.integers(0, 3, 500).tolist(), random.integers(0, 400, 500),
            random.integers(0, 90, 500), random.integers(0, 100, 500), strict=True)
    ]  # fmt: skip
    phases = [{"phase": name, "parent": None, "dur_ns": 1, "count": 1} for name in ("fit.steps", "script", "teardown")]
    return in_memory(
        phases=table("phases", phases),
        kernel_ops=table("kernel_ops", ops),
        kernel_events=table("kernel_events", events),
    )


@pytest.mark.parametrize("by", list(kernels.GROUPS))
def test_the_figures_are_those_of_columns_in_memory(by: str) -> None:
    """All of them, for each grouping."""
    in_columns = kernels.summarise(run(), by)
    with patch.object(kernels, "_IN_MEMORY", 0):
        streamed = kernels.summarise(run(), by)
    assert streamed == in_columns
    assert len(streamed.rows) > 1


def test_pieces_give_what_the_whole_gives() -> None:
    """Of a phase, and of executions that are cut anywhere."""
    whole = kernels.summarise(run(), "layer", phase="fit")
    told = run()
    events = told.table("kernel_events")

    def pieces(_run: Run, _name: str, columns: Any) -> Any:
        return (events.select(columns).slice(low, 77) for low in range(0, 500, 77))

    with patch.object(kernels, "_IN_MEMORY", 0), patch.object(Run, "pieces", pieces):
        assert kernels.summarise(told, "layer", phase="fit") == whole


def test_nothing_has_no_rows() -> None:
    """As where a phase has no kernels."""
    with patch.object(kernels, "_IN_MEMORY", 0):
        found = kernels.summarise(run(), "layer", phase="teardown")
    assert (found.rows, found.all_ns, found.all_of) == ((), 0, "host")
