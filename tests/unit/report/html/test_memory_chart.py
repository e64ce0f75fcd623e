"""Memory over time for a chart."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

from dlprof.report.html import memory_chart
from tests.unit.analysis.memory_runs import MB, S, allocated, sample, split, stood
from tests.unit.report.html.pages import Elements, page_of, unpacked
from tests.unit.runs import intervals, manifest, trained


def of(path: Path, samples: list[dict[str, Any]], **tables: Any) -> dict[str, Any]:
    """What is drawn of a run with these samples."""
    made = memory_chart.of_run(trained(path, process_samples=samples, **tables))
    assert made is not None
    return made


def test_the_peak_is_told_with_its_phase_and_line(tmp_path: Path) -> None:
    """The peaks of other phases are dots of their own."""
    found = of(tmp_path / "r", [sample(1, 100), sample(4, 800), sample(9, 200)], **stood(3.9, 4.1, 12))

    assert found["peak"] == {"time_ns": 4 * S, "bytes": 800, "phase": "fit.steps", "at": "train.py:12"}
    assert [(one["phase"], one["bytes"]) for one in found["peaks"]] == [("import", 100), ("teardown", 200)]
    assert (found["time_ns"], found["tree_bytes"]) == ([S, 4 * S, 9 * S], [100, 800, 200])


def test_kinds_of_pages_are_drawn_where_there_are_any(tmp_path: Path) -> None:
    """Nothing is shared or swapped out here; between two looks at kinds they share what there is."""
    found = of(tmp_path / "r", [split(1, 100, 50), sample(2, 300), split(3, 200, 50)])

    assert found["tree_bytes"] == [150, 300, 250]
    assert [(kind["label"], kind["bytes"]) for kind in found["kinds"]] == [
        ("anonymous", [100, 225, 200]),
        ("of files", [50, 75, 50]),
    ]


def test_of_many_samples_the_largest_of_each_stretch_stays(tmp_path: Path) -> None:
    """A thousand samples in ten points: the peak is among them."""
    samples = [sample(1 + n / 200, 700 if n == 333 else 100 + n % 7) for n in range(1000)]
    with patch.object(memory_chart, "_POINTS", 10):
        found = of(tmp_path / "r", samples)

    assert len(found["tree_bytes"]) == 10
    assert max(found["tree_bytes"]) == 700


def test_stretches_of_phases_too_short_to_be_seen_are_left_out(tmp_path: Path) -> None:
    """A hundredth of a second of ten."""
    phases = intervals(("import", 0, 2), ("compile", 2, 2.01), ("fit.steps", 2.01, 10))
    found = of(tmp_path / "r", [sample(0.1, 100), sample(9.9, 100)], phase_intervals=phases)

    assert [band["phase"] for band in found["bands"]] == ["import", "fit.steps"]


def test_a_limit_is_drawn_where_the_peak_comes_near_it(tmp_path: Path) -> None:
    """Half of it and more; the tighter one."""
    machine = [{"time_ns": S, "interval_ns": S, "limit_group_bytes": 1000 * MB}]
    far = of(tmp_path / "far", [sample(1, 400 * MB)], machine=machine, **of_a_large_machine())
    near = of(tmp_path / "near", [sample(1, 600 * MB)], machine=machine, **of_a_large_machine())

    assert far["limit"] is None
    assert near["limit"] == {"bytes": 1000 * MB, "name": "limit of the control group"}


def of_a_large_machine() -> dict[str, Any]:
    """The manifest of a run on a machine of 8 GB."""
    machine = {"host": "h", "system": "Linux", "cpu": "x", "cores": 2, "usable_cores": 2, "memory_bytes": 8000 * MB}
    return {"told": manifest(machine=machine)}


def test_without_samples_there_is_no_chart(tmp_path: Path) -> None:
    """Nor a section of it."""
    run = trained(tmp_path / "r")

    assert memory_chart.of_run(run) is None
    assert 'id="memory-chart"' not in page_of(run)


def test_a_page_has_who_allocated_memory_where_that_was_recorded(tmp_path: Path) -> None:
    """And nothing of it elsewhere."""
    recorded = allocated((7, [n * MB for n in range(50)]), (None, [0] * 50))
    samples = [sample(4, 800 * MB)]
    text = page_of(trained(tmp_path / "r", process_samples=samples, **recorded))
    words = " ".join(Elements(text).text.split())
    without = page_of(trained(tmp_path / "s", process_samples=samples))

    assert "Who allocated it Of 20 MB that memray recorded at most" in words
    assert "train.py:7</td><td>numpy/core.py:9 zeros</td>" in text.replace("</a>", "").replace("</code>", "")
    assert "<td>no line of the script</td><td>numpy/core.py:9 zeros</td>" in text
    assert "Who allocated it" not in without


def test_a_page_has_the_chart_and_what_holds_memory(tmp_path: Path) -> None:
    """With how each figure is known."""
    owners = [
        {"model": 1, "layer": "dense", "kind": kind, "bytes": size * MB, "how": how, "count": 1}
        for kind, size, how in (("parameters", 40, "exact"), ("activations", 300, "estimate"))
    ]
    text = page_of(trained(tmp_path / "r", process_samples=[sample(4, 800 * MB)], memory_owners=owners))
    words = " ".join(Elements(text).text.split())

    assert unpacked(text)[0]["memory"]["peak"]["bytes"] == 800 * MB
    assert "Peak 800 MB, at 4.00 s in fit.steps" in words
    for kind, size, how in (("parameters", 40, "exact"), ("activations", 300, "estimate"), ("other", 460, "estimate")):
        cell = f'<td class="number" data-value="{size * MB}">{size} MB</td>'
        assert f"<td>{kind}</td>{cell}<td>{how}</td>" in text
