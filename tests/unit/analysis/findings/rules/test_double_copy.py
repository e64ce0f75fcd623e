"""The rule double-copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain
from dlprof.analysis.findings.rules import double_copy
from dlprof.store import query as sql
from dlprof.store.run import Run
from tests.unit.analysis.findings.cases import Planted
from tests.unit.analysis.memory_runs import MB, sample, split
from tests.unit.analysis.test_memory_copies import SCRIPT, tables
from tests.unit.runs import fit_span, steps, trained


def planted() -> Planted:
    """A list of 300 MB, and the array of it."""
    return Planted(tables("".join(f"{line}  #\n" for line in SCRIPT.splitlines())))


def test_both_lines_are_told_with_what_they_took(tmp_path: Path) -> None:
    """It takes no time from other rules."""
    (claim,) = double_copy.look(Case(planted().run(tmp_path / "r")))

    assert claim.sentence.before.startswith("train.py:3 took ")
    assert "for a copy of `rows`, which line 2 had taken" in claim.sentence.before
    assert "of 600 MB at the peak" in claim.sentence.before
    assert "del rows" in claim.next_step
    assert (claim.line, dict(claim.takes)) == (("train.py", 3), {})


def test_a_source_that_is_little_of_the_peak_is_not_told(tmp_path: Path) -> None:
    """Another 5 GB were there for a moment."""
    rows = tables()
    rows["process_samples"][0] = sample(1, 5000 * MB, anonymous_bytes=100 * MB, file_bytes=4900 * MB)

    assert list(double_copy.look(Case(trained(tmp_path / "r", **rows)))) == []


def test_without_samples_it_abstains(tmp_path: Path) -> None:
    """It does not say that nothing is held twice."""
    with pytest.raises(Abstain, match="memory was not sampled"):
        list(double_copy.look(Case(trained(tmp_path / "r"))))


def of_fit(folder: Path) -> Run:
    """200 MB of float32 become as many of the engine's, of 705 MB at the peak."""
    data = [{"shape": [50_000, 1000], "dtype": "float32"}]
    samples = [split(time, level * MB) for time, level in ((1.0, 500), (2.0, 500), (2.9, 705), (7.0, 705))]
    memory = {"after_ns": 7, "rss_bytes": 900 * MB, "anonymous_bytes": 500 * MB, "source": "/proc/self/statm"}
    spans = [{**fit_span(data=data, memory=memory), "file": "train.py", "line": 9}]
    return trained(folder / "r", process_samples=samples, steps=steps(200, start_s=3), spans=spans)


def test_a_copy_that_fit_makes_is_told_with_its_call(tmp_path: Path) -> None:
    """And with what it took."""
    (claim,) = double_copy.look(Case(of_fit(tmp_path)))

    assert claim.sentence.before.startswith(
        "`fit` took 205 MB before its first step, which is a copy of all the float32"
    )
    assert claim.line == ("train.py", 9)


def test_evidence_of_a_copy_that_fit_makes_is_what_the_process_held_at_the_call(tmp_path: Path) -> None:
    """With the source of that, and the data."""
    run = of_fit(tmp_path)
    (claim,) = double_copy.look(Case(run))

    assert sql.ask(run, claim.evidence[-1].sql).rows == [
        (2_000_000_000, 7, 900_000_000, 500_000_000, "/proc/self/statm", '[{"shape":[50000,1000],"dtype":"float32"}]')
    ]
