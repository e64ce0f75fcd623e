"""Two runs of ranks for machines."""

from __future__ import annotations

from pathlib import Path

from dlprof.report import rank_pairs_json
from tests.unit.analysis.test_rank_pairs import compared
from tests.unit.runs import MS


def test_what_the_text_says_is_in_it(tmp_path: Path) -> None:
    """Both sides with their stragglers, the parts, and each rank."""
    told = rank_pairs_json.as_json(compared(tmp_path))
    assert (told.schema, told.delta_ns, told.within_noise, told.most_changed) == (
        "dlprof.compare-ranks/1", 7 * MS, False, 1,
    )  # fmt: skip
    assert told.a.straggler is not None
    assert (told.a.run, told.a.straggler.rank, told.b.run, told.b.straggler) == ("a", 1, "b", None)
    assert [(one.rank, one.own_delta_ns) for one in told.ranks] == [(0, 0), (1, 7 * MS)]
    assert sum(part.delta_ns for part in told.parts) == 7 * MS
