"""The page of a run of ranks, and that of two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlprof.analysis import rank_pairs, ranks
from dlprof.analysis.findings import of_ranks
from dlprof.report.html import ranks_page
from tests.unit import ranked_runs
from tests.unit.analysis.test_rank_pairs import compared
from tests.unit.report.html.pages import HOSTILE, Elements, embedded, unpacked


def page_of_ranks(folder: Path, own_ms: dict[int, float], wanted: tuple[int, ...] = (), **changes: Any) -> str:
    """The page of ranks that do so much in a step."""
    found = ranked_runs.make(folder, own_ms, **changes)
    summary = ranks.of_run(found)
    return ranks_page.make(found, summary, of_ranks.look(found, summary), wanted)


def test_the_page_has_the_map_the_table_and_timelines(tmp_path: Path) -> None:
    """Of two ranks: the straggler is told, all 80 steps are cells, both timelines are drawn."""
    text = page_of_ranks(tmp_path, {0: 5, 1: 12})
    content, _ = unpacked(text)
    (heat,) = content["heats"]
    assert (heat["rows"], heat["each"], heat["columns"], heat["straggler"]) == ([0, 1], 1, 40, 1)
    assert sorted(heat["places"]) == ["0", "1"]
    (drawn,) = content["timelines"]
    assert {"rank 0", "rank 1"} <= {track["place"] for track in drawn["tracks"]}
    assert "Straggler: rank 1: 7.00 ms a step more than the others" in Elements(text).text
    assert embedded(text, "ranks.json")["straggler"]["rank"] == 1
    assert embedded(text, "diagnosis.json")["findings"][0]["slug"] == "straggler"


def test_the_timelines_are_those_that_are_asked_for(tmp_path: Path) -> None:
    """One of two."""
    (drawn,) = unpacked(page_of_ranks(tmp_path, {0: 5, 1: 12}, (1,)))[0]["timelines"]
    assert {track["place"] for track in drawn["tracks"] if track["group"] == "program"} == {"rank 1"}


def test_ranks_that_are_not_there_are_told(tmp_path: Path) -> None:
    """And why waits are not known, where they are not."""
    text = Elements(page_of_ranks(tmp_path, {0: 5, 1: 12}, world=4, rank_0={"collectives": []})).text
    assert "no run of rank 2, 3" in text
    assert "Waits in collectives: not measured, because" in text


def test_a_strangers_names_are_only_text(tmp_path: Path) -> None:
    """Of machines and of what was run."""
    machine = {"host": HOSTILE[0], "cores": 2, "usable_cores": 2}
    text = page_of_ranks(tmp_path, {0: 5, 1: 12}, rank_1={"told": {"machine": machine}})
    assert HOSTILE[0] not in text
    assert sum(tag == "script" for tag, _ in Elements(text).found) == 5


def test_two_runs_have_a_map_each_on_a_page(tmp_path: Path) -> None:
    """With what differs, and the straggler of each."""
    text = ranks_page.make_pair(compared(tmp_path))
    content, _ = unpacked(text)
    assert [heat["columns"] for heat in content["heats"]] == [40, 40]
    assert content["pairs"] == [{"rank": rank, "a_ns": 20_000_000, "b_ns": 13_000_000} for rank in (0, 1)]
    assert "Rank 1 does most more itself: 7.00 ms a step." in Elements(text).text
    assert embedded(text, "compare.json")["most_changed"] == 1


def test_a_run_without_steps_has_a_page(tmp_path: Path) -> None:
    """Neither map nor bars; it says that nothing was seen."""
    none: dict[str, Any] = {"steps": [], "collectives": []}
    text = page_of_ranks(tmp_path / "one", {0: 5, 1: 5}, rank_0=none, rank_1=none)
    assert unpacked(text)[0]["heats"] == []
    found = ranked_runs.make(tmp_path / "two", {0: 5, 1: 5}, rank_0=none, rank_1=none)
    pair = rank_pairs.compare(rank_pairs.side("a", found), rank_pairs.side("b", found))
    assert "are not known of all ranks" in Elements(ranks_page.make_pair(pair)).text
