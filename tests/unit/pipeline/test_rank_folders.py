"""Folders of ranks that are a dlprof each."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from dlprof.errors import CannotCreateError
from dlprof.pipeline import rank_folders
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Command, Manifest, Rank, Ranked
from dlprof.schema.tables import SCHEMA_VERSION
from dlprof.schema.vocabulary import RunState

NOW = datetime(2026, 11, 23, 9, 0, 0, tzinfo=UTC)
RANKS = [Rank(rank=number, world=2, by="RANK") for number in range(2)]


def begin(folder: Path, rank: Rank) -> RunDir:
    """A rank that begins there."""
    own = rank_folders.create(folder, "train-own", rank, NOW)
    manifest = Manifest(state=RunState.RUNNING, command=Command(script="train.py"), rank=rank)
    own.write_manifest(manifest)
    rank_folders.found(manifest, own)
    return own


def end(own: RunDir) -> None:
    """Its run is stored."""
    own.write_manifest(replace(own.read_manifest(), state=RunState.FINISHED, tables_version=SCHEMA_VERSION))


def test_each_rank_has_a_folder_of_its_own_in_one(tmp_path: Path) -> None:
    """Which says that it holds ranks, and of what."""
    folders = [begin(tmp_path / "ddp", rank).path.name for rank in RANKS]
    shared = RunDir(tmp_path / "ddp").read_manifest()
    assert folders == ["rank-000", "rank-001"]
    assert (shared.ranked, shared.rank, shared.command.script) == (Ranked(world=2), None, "train.py")


def test_a_rank_that_began_again_has_another_folder(tmp_path: Path) -> None:
    """That of its first attempt stays."""
    begin(tmp_path / "ddp", RANKS[1])
    assert begin(tmp_path / "ddp", replace(RANKS[1], attempt=2)).path.name == "rank-001-restart-2"


def test_nobody_writes_over_a_run(tmp_path: Path) -> None:
    """Neither over that of a rank, nor into one of another kind."""
    begin(tmp_path / "ddp", RANKS[0])
    with pytest.raises(CannotCreateError, match="exists and is not empty"):
        begin(tmp_path / "ddp", RANKS[0])
    RunDir(tmp_path).write_manifest(Manifest())
    with pytest.raises(CannotCreateError, match="is a run, and cannot hold those of ranks"):
        begin(tmp_path, RANKS[0])


def test_without_a_name_ranks_of_one_launcher_meet_in_one_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its time and number are in the name, so that those of another one do not come there."""
    monkeypatch.chdir(tmp_path)
    shared = {rank_folders.create(None, "train-own", rank, NOW).path.parent for rank in RANKS}
    assert len(shared) == 1
    assert shared.pop().parent == tmp_path / "dlprof_runs"


def test_the_last_rank_that_is_stored_is_told_so_once(tmp_path: Path) -> None:
    """The others are not, and the folder is finished then."""
    first, second = (begin(tmp_path / "ddp", rank) for rank in RANKS)
    end(first)
    assert not rank_folders.is_last(first, RANKS[0])
    end(second)
    assert [rank_folders.is_last(second, RANKS[1]), rank_folders.is_last(first, RANKS[0])] == [True, False]
    assert RunDir(tmp_path / "ddp").read_manifest().state == RunState.FINISHED


def test_after_a_restart_the_last_is_told_again(tmp_path: Path) -> None:
    """Once those that began again are stored, whatever was before."""
    again = [replace(rank, attempt=1) for rank in RANKS]
    for rank in RANKS:
        end(begin(tmp_path / "ddp", rank))
    first, second = (begin(tmp_path / "ddp", rank) for rank in again)
    end(first)
    assert not rank_folders.is_last(first, again[0])
    end(second)
    assert rank_folders.is_last(second, again[1])
