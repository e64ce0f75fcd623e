"""What is measured of a run of ranks in a benchmark."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.bench import rank_measures
from dlprof.errors import BadDataError
from tests.unit import ranked_runs


def test_measures_of_ranks_are_those_of_the_first_but_for_what_all_share(tmp_path: Path) -> None:
    """40 steps of 20 ms and 128 rows in each rank."""
    ranked_runs.make(tmp_path, {0: 5, 1: 12})
    found = rank_measures.measure(rank_measures.opened(tmp_path), 2)
    assert (found["wall_s"], found["step_ms"]) == (10.0, 20.0)
    assert found["samples_per_s"] == pytest.approx(2 * 6400)
    assert (found["train_s"], found["train_wait_s"], found["train_transfer_s"]) == (0.8, 0.14, 0.04)
    assert (found["train_input_s"], found["train_kernels_s"]) == (0.0, None)


def test_a_run_that_lost_ranks_is_not_measured(tmp_path: Path) -> None:
    """Its figures would be of another training."""
    ranked_runs.make(tmp_path, {0: 5, 1: 12}, world=3)
    with pytest.raises(BadDataError, match="has 2 ranks, not 3"):
        rank_measures.measure(rank_measures.opened(tmp_path), 3)


def test_the_rank_that_failed_first_is_why_a_cell_failed(tmp_path: Path) -> None:
    """The last line of torchrun itself says nothing."""
    process = {"pid": 42, "exit_code": None, "signal": 9, "wall_ns": 5}
    found = ranked_runs.make(tmp_path, {0: 5, 1: 5}, rank_1={"told": {"process": process}})
    assert rank_measures.first_to_fail(found) == "Rank 1 ended with signal 9 after 40 train steps."
