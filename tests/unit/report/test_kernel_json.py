"""Tables of kernels as JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis import kernels
from dlprof.report import kernel_json
from dlprof.report.json_text import plain
from dlprof.store.run import Run
from tests.unit.runs import MS, trained, window

FIGURES = [
    "count", "total_ns", "self_ns", "union_ns", "mean_ns", "p95_ns", "share", "share_of_step", "launch_delay_ns", "flops",
    "bytes",
]  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Ten steps of 20 ms with 5 ms of a layer's each."""
    dense = {"op": "MatMul", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 5}
    return trained(tmp_path / "r", **window([dense]))


@pytest.mark.parametrize(
    ("by", "keys"),
    [
        ("layer", ["layer", "direction", "op", "category", "kind", "device"]),
        ("kernel", ["layer", "direction", "op", "category", "name", "kind", "device"]),
        ("op", ["op", "category", "kind", "device"]),
        ("category", ["category", "kind", "device"]),
        ("direction", ["direction", "kind", "device"]),
        ("device", ["kind", "device"]),
        ("step", ["step", "kind", "device"]),
    ],
)
def test_a_row_has_the_keys_of_its_grouping_and_all_figures(run: Run, by: str, keys: list[str]) -> None:
    """`dlprof.kernels/1`, see docs/json.md."""
    content = plain(kernel_json.as_json(kernels.summarise(run, by), by, None))

    assert list(content)[:4] == ["schema", "by", "phase", "rows"]
    assert (content["schema"], content["by"]) == ("dlprof.kernels/1", by)
    assert list(content["rows"][0]) == [*keys, *FIGURES]


def test_shares_are_of_all_kernels_and_of_the_windows(run: Run) -> None:
    """50 ms of 50 ms, and of 200 ms."""
    (row,) = kernel_json.as_json(kernels.summarise(run, "layer"), "layer", "fit").rows

    assert (row.count, row.total_ns, row.mean_ns, row.p95_ns) == (10, 50 * MS, 5 * MS, 5 * MS)
    assert (row.share, row.share_of_step) == (1.0, 0.25)
    assert (row.launch_delay_ns, row.flops) == (None, None)


def test_a_run_without_kernels_has_no_rows(tmp_path: Path) -> None:
    """And no time."""
    table = kernel_json.as_json(kernels.summarise(trained(tmp_path / "r"), "layer"), "layer", None)

    assert (table.rows, table.all_ns, table.aggregated) == ((), 0, False)
