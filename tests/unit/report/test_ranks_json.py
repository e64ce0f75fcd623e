"""The report of ranks for machines."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis import ranks
from dlprof.report import ranks_json
from tests.unit import ranked_runs
from tests.unit.runs import MS


def test_the_json_has_a_row_a_rank(tmp_path: Path) -> None:
    """With null for what is not known."""
    found = ranked_runs.make(tmp_path, {0: 5, 1: 12})
    told = ranks_json.as_json(found, ranks.of_run(found))
    assert (told.schema, told.world, told.skew_ns, told.missing) == ("dlprof.ranks/1", 2, 7 * MS, ())
    first = told.ranks[0]
    assert (first.rank, first.host, first.run, first.steps, first.median_ns) == (0, "h", "rank-000", 40, 20 * MS)
    assert (first.collective_wait_ns, first.collective_transfer_ns, first.kernels_ns) == (7 * MS, MS, None)
    assert (told.clock.offset_ns, told.clock.error_ns) == (0, 1)
    assert told.straggler is not None
    assert (told.straggler.rank, told.straggler.part) == (1, "work")
