"""The roofline of a run as a picture."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from dlprof.report.html import run_page, work_chart
from dlprof.schema.manifest import Ceilings
from dlprof.store.run import Run
from tests.unit.analysis.test_roofline import layer, op
from tests.unit.runs import trained, window


def traced(path: Path, *, measured: bool = True) -> Run:
    """A product of 0.2 GFLOP and 4.8 MB in 4 ms, on a machine of 100 GFLOP/s and 10 GB/s."""
    run = trained(path, layers=[layer()], **window([op(4)]))
    ceilings = Ceilings(cpu="c", cores=2, flops_per_s={"float32": 1e11}, bytes_per_s=1e10) if measured else None
    run.manifest = structs.replace(run.manifest, machine=structs.replace(run.manifest.machine, ceilings=ceilings))
    return run


def test_a_layer_stands_by_its_operations_per_byte_and_its_rate(tmp_path: Path) -> None:
    """41.7 between 10 and 1,000; 50 GFLOP/s between 10 and 1,000."""
    chart = work_chart.of_run(traced(tmp_path / "r"))

    assert chart is not None
    point = chart.points[1]
    assert [point.x, point.y] == pytest.approx([281.7, 178.6])
    assert point.title == "dense, forward: 200 MFLOP in 4.00 ms, 50 GFLOP/s, bound by compute"
    assert (point.label, point.aside) == ("dense", 7)


def test_the_whole_step_stands_beside_its_layers(tmp_path: Path) -> None:
    """0.4 GFLOP and 9.6 MB in the 20 ms of a plain step."""
    chart = work_chart.of_run(traced(tmp_path / "r"))

    assert chart is not None
    assert (chart.points[0].what, chart.points[0].label) == ("step", "whole step")
    assert chart.points[0].title == "a plain step: 400 MFLOP in 20.0 ms, 20 GFLOP/s"


def test_the_roof_goes_along_the_bandwidth_to_the_peak(tmp_path: Path) -> None:
    """They meet at 10 operations per byte, where the picture begins."""
    chart = work_chart.of_run(traced(tmp_path / "r"))

    assert chart is not None
    assert chart.roof == "92.0,141.0 92.0,141.0 704.0,141.0"
    assert [tick.text for tick in chart.across] == ["10", "100", "1000"]


def test_where_nothing_was_measured_of_the_machine_there_is_no_roof(tmp_path: Path) -> None:
    """And how to measure it is said."""
    chart = work_chart.of_run(traced(tmp_path / "r", measured=False))

    assert chart is not None
    assert chart.roof == ""
    assert any("dlprof doctor --measure" in one for one in chart.says)


def test_a_run_without_layers_has_no_such_section(tmp_path: Path) -> None:
    """Nor does its page speak of one."""
    assert work_chart.of_run(trained(tmp_path / "r")) is None
    assert "Work and roofline" not in run_page.make(trained(tmp_path / "q"), None, "it is a test.")
    assert "Work and roofline" in run_page.make(traced(tmp_path / "s"), None, "it is a test.")
