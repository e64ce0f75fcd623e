"""The kernel's figure of the most that a process had."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import memory
from tests.unit.analysis.memory_runs import split
from tests.unit.runs import span, trained

FINISH = span("dlprof", 9, 9.1, name="finish", detail='{"peak_rss_bytes": 950}')


@pytest.mark.parametrize(
    ("spans", "rss", "told"),
    [
        ([FINISH], 700, (950, None)),
        ([], 700, (900, "the process did not tell it as it ended: it is as of 4.00 s")),
        ([FINISH], 970, (970, None)),
    ],
    ids=["told at the end", "killed", "sampled more"],
)
def test_the_peak_of_a_process_is_that_of_its_end_if_it_told_it(
    tmp_path: Path, spans: list[dict[str, Any]], rss: int, told: tuple[int, str | None]
) -> None:
    """The last sample that the kernel was asked in was at 4 s; what was sampled is a part of it."""
    samples = [split(4, 600, peak_rss_bytes=900), split(8, rss)]
    found = memory.of_run(trained(tmp_path / "r", process_samples=samples, spans=spans))

    assert (found.kernel_peak_bytes, found.not_measured.get("kernel_peak_at_end")) == told


def test_a_kernel_that_keeps_no_peak_tells_none(tmp_path: Path) -> None:
    """Nothing is made of samples alone."""
    found = memory.of_run(trained(tmp_path / "r", process_samples=[split(4, 600)]))

    assert (found.kernel_peak_bytes, "kernel_peak_at_end" in found.not_measured) == (None, False)
