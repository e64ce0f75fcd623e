"""A data set that keeps what it has made, in workers that end with each pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Finding
from tests.unit import runs
from tests.unit.analysis.findings.cases import keep_source, pick
from tests.unit.analysis.findings.loading import FETCH, passes, processes, stood, trained
from tests.unit.runs import MS

KEEPS = """
class Images:
    def __getitem__(self, i):
        if i not in self.cache:
            self.cache[i] = read(i)
        return self.cache[i]
"""
MAKES = "class Images:\n    def __getitem__(self, i):\n        return read(i)\n"


def waiting(folder: Path, source: str, loaders: list[dict[str, Any]]) -> Finding:
    """Of a training of three epochs that waits for workers 12 of 40 ms a step."""
    work = stood((0.95, FETCH), (0.95, FETCH))
    run = runs.trained(folder / "r", **trained([12], processes=processes(1.9, 1.9), **work) | {"loaders": loaders})
    keep_source(run, source)
    return pick(diagnose.diagnose(run), "input-bound")


def test_what_workers_lose_at_the_end_of_each_pass_is_told_with_the_line_that_keeps_it(tmp_path: Path) -> None:
    """Each pass waits as long as the first one."""
    finding = waiting(tmp_path, KEEPS, passes())

    assert (finding.line, finding.heading) == (5, "Workers lost what the data set keeps")
    assert "Workers that end with each pass lose what the data set keeps at line 5" in finding.claim
    assert "persistent_workers=True" in (finding.fix or "")


@pytest.mark.parametrize(
    ("source", "loaders"),
    [
        (MAKES, passes()),
        (KEEPS.replace("Images", "Sounds"), passes()),
        (KEEPS, passes(persistent=True)),
        (KEEPS, passes(uses_processes=False)),
        (KEEPS, [*passes(2), {**passes(3)[-1], "waited_ns": 200 * MS}]),
    ],
    ids=["kept nowhere", "another class", "they last", "threads", "shorter waits later"],
)
def test_what_is_kept_nowhere_or_not_lost_is_not_told(
    source: str, loaders: list[dict[str, Any]], tmp_path: Path
) -> None:
    """It is an input that is waited for, as any other."""
    assert "lose" not in waiting(tmp_path, source, loaders).claim
