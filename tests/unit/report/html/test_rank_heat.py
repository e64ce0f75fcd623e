"""The map of the steps of all ranks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from dlprof.analysis import ranks
from dlprof.analysis.ranks import RanksSummary
from dlprof.report.html import rank_heat
from dlprof.report.html.pack import Pack
from tests.unit import ranked_runs
from tests.unit.report.html.pages import column, header
from tests.unit.runs import MS


def summary(folder: Path, own_ms: dict[int, float], **changes: Any) -> RanksSummary:
    """What ranks tell that do so much in a step."""
    return ranks.of_run(ranked_runs.make(folder, own_ms, **changes))


def figure(of: RanksSummary, name: str) -> list[float]:
    """The cells of a map, as its script reads them: ticks, from 1; 0: none."""
    heat = rank_heat.of_summary(of)
    assert heat is not None
    pack = Pack()
    content, columns = header(pack.text({"heat": rank_heat.packed(heat, pack, {})}))
    told = content["heat"]
    return [(value - 1) * told["tick_ns"] if value else -1 for value in column(content, columns, told[name])]


def test_a_cell_is_a_step_of_a_rank(tmp_path: Path) -> None:
    """Row after row; a rank that died has no cells for what it did not do."""
    of = summary(tmp_path, {0: 5, 1: 12}, rank_1={"steps": ranked_runs.steps(1)[:7]})
    assert figure(of, "whole") == [20 * MS] * 40 + [20 * MS] * 7 + [-1] * 33
    assert figure(of, "wait")[:40] == [7 * MS] * 40


def test_of_many_ranks_a_row_is_the_one_that_does_most(tmp_path: Path) -> None:
    """Of four in two rows: the slower of each two."""
    of = summary(tmp_path, {0: 5, 1: 6, 2: 12, 3: 5})
    with patch.object(rank_heat, "MOST_ROWS", 2):
        heat = rank_heat.of_summary(of)
    assert heat is not None
    assert (heat.rows, heat.of_row) == ((1, 2), 2)


def test_a_thousand_ranks_take_less_than_a_megabyte_and_a_half() -> None:
    """However unlike their steps are."""
    random = np.random.default_rng(1)
    values = random.uniform(10, 30, 150) * MS
    whole = np.ones(150, np.int64)
    one = rank_steps_of(values, whole)
    heat = rank_heat.Heat(
        tuple(range(1000)), 1, {rank: replace(one, whole=random.permutation(values)) for rank in range(1000)}
    )
    pack = Pack()
    assert len(pack.text(rank_heat.packed(heat, pack, {}))) < 1_500_000


def rank_steps_of(values: Any, numbers: Any) -> Any:
    """Stretches with the same in every figure."""
    from dlprof.analysis.rank_steps import BinnedSteps

    return BinnedSteps(100, values, values / 5, values / 3, values / 9, values * 1.4, numbers, numbers, numbers)


def test_timelines_are_of_the_ranks_that_tell_most(tmp_path: Path) -> None:
    """The straggler, the one that does least, and the first; or those that the user names."""
    of = summary(tmp_path, {0: 6, 1: 6, 2: 5, 3: 6, 4: 12})
    assert rank_heat.chosen(of, (), 3) == (0, 2, 4)
    assert rank_heat.chosen(of, (3, 1), 8) == (3, 1)
