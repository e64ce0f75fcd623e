"""Runs of ranks, opened."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dlprof.errors import UsageError
from dlprof.pipeline import opening, ranked
from dlprof.schema.manifest import Rank
from tests.unit import ranked_runs, runs


def test_a_folder_of_ranks_is_one_run_of_them(tmp_path: Path) -> None:
    """By rank, and with those that are missing."""
    found = ranked_runs.make(tmp_path, {2: 5, 0: 5}, world=3)
    assert [(one.rank, found.path_of(one)) for one in found.members] == [(0, "rank-000"), (2, "rank-002")]
    assert (found.world, found.missing, found.program) == (3, (1,), None)


def test_of_a_rank_that_began_again_the_last_attempt_counts(tmp_path: Path) -> None:
    """The other one is named."""
    again = ranked_runs.told(1, rank={"rank": 1, "world": 2, "attempt": 1, "by": "RANK"})
    runs.trained(tmp_path / "rank-001-restart-1", again)
    found = ranked_runs.make(tmp_path, {0: 5, 1: 5})
    assert [found.path_of(one) for one in found.members] == ["rank-000", "rank-001-restart-1"]
    assert found.set_aside == ("rank-001",)


def test_a_rank_that_cannot_be_opened_does_not_cost_the_others(tmp_path: Path) -> None:
    """It is said why."""
    ranked_runs.make(tmp_path, {0: 5, 1: 5})
    (tmp_path / "rank-001" / "manifest.json").write_text("{")
    found = ranked.find(str(tmp_path))
    assert found is not None
    assert [one.rank for one in found.members] == [0]
    assert list(found.lost) == ["rank-001"]


def test_a_program_that_started_ranks_holds_them(tmp_path: Path) -> None:
    """Its other children, such as the launcher itself, are none."""
    followed = {"runs": [], "pythons": 3}
    runs.trained(tmp_path, runs.manifest(followed=followed))
    for number, rank in enumerate((None, 1, 0), 1):
        told = runs.manifest() if rank is None else ranked_runs.told(rank)
        runs.trained(tmp_path / "children" / f"{number:03d}-train", told)
    found = ranked.find(str(tmp_path))
    assert found is not None
    assert [found.path_of(one) for one in found.members] == ["children/003-train", "children/002-train"]
    assert found.program is not None


@pytest.mark.parametrize("followed", [None, {"runs": [], "pythons": 1}])
def test_a_run_without_ranks_is_no_run_of_ranks(tmp_path: Path, followed: object) -> None:
    """Whether Pythons were followed or not."""
    runs.trained(tmp_path, runs.manifest(followed=followed))
    assert ranked.find(str(tmp_path)) is None


def test_what_looks_at_one_run_refuses_a_folder_of_ranks(tmp_path: Path) -> None:
    """And says what to name instead; a comparison too."""
    ranked_runs.make(tmp_path, {0: 5, 1: 5})
    with pytest.raises(UsageError, match="holds the ranks of one training"):
        opening.open_run(str(tmp_path))
    with pytest.raises(UsageError, match="holds the ranks of one training"):
        opening.open_sides([str(tmp_path), str(tmp_path)])


def test_ranks_are_in_manifests_as_they_were_told(tmp_path: Path) -> None:
    """With where that came from."""
    ranked_runs.make(tmp_path, {0: 5, 1: 5})
    manifest = json.loads((tmp_path / "rank-001" / "manifest.json").read_text())
    assert manifest["rank"] == {"rank": 1, "world": 2, "by": "RANK"}
    run = opening.open_run(str(tmp_path / "rank-001"))
    assert run.manifest.rank == Rank(rank=1, world=2, by="RANK")


def test_sides_without_keras_are_labelled_by_their_engines(tmp_path: Path) -> None:
    """As runs on two backends of Keras are."""
    own = {**runs.manifest()["backend"], "name": None, "source": "python"}
    for name in ("torch", "jax"):
        runs.make(tmp_path / name, runs.manifest(keras=None, backend=own, engine={"name": name, "version": "1"}))

    sides = opening.open_sides([str(tmp_path / "torch"), str(tmp_path / "jax")])

    assert [side.label for side in sides] == ["torch", "jax"]
