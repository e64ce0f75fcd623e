"""What a page leaves out, and why."""

from __future__ import annotations

from pathlib import Path

from dlprof.report import summary
from dlprof.report.html import absent
from dlprof.report.html.absent import Absent
from tests.unit.runs import S, make, manifest, trained


def test_a_part_that_is_shown_is_not_missed(tmp_path: Path) -> None:
    """Nor any reason given for it."""
    report = summary.summarise(trained(tmp_path / "r"), top=5)
    assert absent.parts(report, {"phases": True, "lines": True}) == []


def test_a_missing_part_has_the_reason_of_its_probe(tmp_path: Path) -> None:
    """The line profiler was switched off."""
    probes = [{"name": "lines", "state": "off", "reason": "--no-lines", "cost_ns": None, "cost_source": None}]
    report = summary.summarise(trained(tmp_path / "r", probes=probes), top=5)
    assert absent.parts(report, {"lines": False}) == [Absent("lines", "--no-lines")]


def test_an_imported_trace_holds_no_more(tmp_path: Path) -> None:
    """No probe of ours ran."""
    told = manifest(state="imported", process={"pid": None, "exit_code": None, "signal": None, "wall_ns": S})
    report = summary.summarise(make(tmp_path / "r", told), top=5)
    why = "the imported files hold none"
    assert absent.parts(report, {"phases": False}) == [Absent("phases", why)]
    assert absent.measures(report) == [
        Absent("CPU of the process tree", why),
        Absent("CPU of other processes", why),
        Absent("memory", why),
        Absent("cores", why),
        Absent("samples of the GPU", why),
    ]
    assert len(absent.measures(report)) == absent.MEASURES
