"""Memory and work of a comparison on a terminal."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from dlprof.analysis import compare
from dlprof.analysis.compare import Side
from dlprof.report import compare_text
from dlprof.store.run import Run
from tests.unit.analysis.memory_runs import MB, sample
from tests.unit.report.reports import rows
from tests.unit.report.test_compare_text import section
from tests.unit.runs import trained, window

LAYER = {
    "model": 1, "layer": "dense", "class": "Dense", "inputs": ["100x1000"], "output": "100x1000", "dtype": "float32",
    "calls": 1, "trained": True, "first": True, "weight_names": ["kernel"], "weights": ["1000x1000"], "bytes_per_value": 4,
}  # fmt: skip


def run(path: Path, peak: int, ms: float) -> Run:
    """A run with this peak, whose layer takes so long."""
    kernel = {"op": "MatMul", "category": "matmul", "layer": "dense", "direction": "forward", "ms": ms}
    owners = [
        {"model": 1, "layer": "dense", "kind": kind, "bytes": size, "how": how, "count": 1}
        for kind, size, how in (("parameters", 4 * MB, "exact"), ("activations", peak // 2, "estimate"))
    ]
    samples = [sample(4, peak)]
    return trained(path, layers=[LAYER], memory_owners=owners, process_samples=samples, **window([kernel]))


def printed(a: Run, b: Run, *, full: bool = False) -> list[str]:
    """The lines of the text, without empty ones."""
    out = io.StringIO()
    found = compare.compare(Side("a", (a,)), Side("b", (b,)))
    compare_text.print_comparison([found], [()], file=out, plain=True, full=full)
    return [line.rstrip() for line in out.getvalue().splitlines() if line.strip()]


def test_memory_stands_side_by_side_with_how_it_is_known(tmp_path: Path) -> None:
    """By phase, then by what it is held for; what is left of the peak is an estimate."""
    lines = section(printed(run(tmp_path / "a", 800 * MB, 12), run(tmp_path / "b", 400 * MB, 4)), "Memory")

    assert lines[0].strip().startswith("A needed 800 MB at its largest, B 400 MB: A 2.00 x as much")
    table: list[Any] = rows(lines)
    assert ["fit.steps", "800 MB", "400 MB", "+400 MB"] in table
    assert ["parameters", "4 MB", "4 MB", "0 B", "exact"] in table
    assert ["activations", "~400 MB", "~200 MB", "+200 MB"] in table
    assert ["other", "~396 MB", "~196 MB", "+200 MB"] in table


def test_work_stands_side_by_side_with_its_rate(tmp_path: Path) -> None:
    """The same operations in three times the time."""
    lines = section(
        printed(run(tmp_path / "a", 800 * MB, 12), run(tmp_path / "b", 400 * MB, 4), full=True), "Work of a training"
    )

    forward = next(row for row in rows(lines) if row[:2] == ["dense", "forward"])
    assert forward[2:8] == ["200 MFLOP", "200 MFLOP", "12.0 ms", "4.00 ms", "16.7 GFLOP/s", "50 GFLOP/s"]
    assert forward[-1] == "same work, A at a lower rate"


def test_sides_that_tell_neither_have_no_such_sections(tmp_path: Path) -> None:
    """Nothing was sampled, no layer told."""
    lines = printed(trained(tmp_path / "a"), trained(tmp_path / "b"))

    assert not [line for line in lines if line.startswith(("Memory", "Work"))]


def test_layers_that_do_the_same_work_have_no_second_table(tmp_path: Path) -> None:
    """Their times stand with the kernels."""
    lines = section(printed(run(tmp_path / "a", 800 * MB, 12), run(tmp_path / "b", 400 * MB, 4)), "Work of a training")

    assert lines[-1] == "  no layer is more work on one side; work, time and rate of each: --full"


def test_memory_that_is_alike_is_a_sentence(tmp_path: Path) -> None:
    """With the moments of both peaks; in full it has its tables."""
    sides = run(tmp_path / "a", 800 * MB, 4), run(tmp_path / "b", 790 * MB, 4)

    assert section(printed(*sides), "Memory")[-1] == "  peaks of phases, and what holds the memory: --full"
    assert ["fit.steps", "800 MB", "790 MB", "+10 MB"] in rows(section(printed(*sides, full=True), "Memory"))
