"""Curves below a page's timeline."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.unit.report.html.pages import column, page_of, unpacked
from tests.unit.runs import S, trained


def test_a_series_says_where_nothing_was_measured(tmp_path: Path) -> None:
    """Between 3 s and 8 s no sample was taken."""
    used = [{"time_ns": n * S, "interval_ns": S, "rss_bytes": 10**6, "cpu_pct": 50.0} for n in (1, 2, 3, 8, 9)]
    content, columns = unpacked(page_of(trained(tmp_path / "r", process_samples=used)))
    series = {one["label"]: one for one in content["timelines"][0]["series"]}["CPU of the process tree"]
    assert column(content, columns, series["time"]) == [0, S, 2 * S, 3 * S, 7 * S, 8 * S]
    values = column(content, columns, series["value"])
    assert [value for value in values if value == value] == [50.0] * 5  # noqa: PLR0124  (NaN is not itself)
    assert np.isnan(values[3])
