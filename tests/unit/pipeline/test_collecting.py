"""Ranks that lie in several places become one run."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import ranks
from dlprof.errors import CannotCreateError, NoInputError
from dlprof.pipeline import collecting, ranked
from tests.unit import ranked_runs
from tests.unit.runs import MS, S


def silent(_line: str) -> None:
    """Say nothing."""


def made(folder: Path, world: int = 2, **changes: Any) -> Path:
    """A folder of ranks; each has a raw artifact."""
    found = ranked_runs.make(folder / "all", dict.fromkeys(range(world), 5.0) | {1: 12.0}, **changes)
    for member in found.members:
        (member.run.folder.raw / "kernels").mkdir(parents=True)
        (member.run.folder.raw / "kernels" / "w.json").write_text(f"{member.rank}")
    return found.folder.path


def apart(folder: Path, **changes: Any) -> tuple[Path, Path]:
    """The ranks of a training in folders of two machines, one each, as a shared `-o` would have them there."""
    whole = made(folder, **changes)
    for rank in (0, 1):
        place = folder / f"node{rank}"
        place.mkdir()
        shutil.copy(whole / "manifest.json", place)
        shutil.copytree(whole / f"rank-{rank:03d}", place / f"rank-{rank:03d}")
    return folder / "node0", folder / "node1"


def test_ranks_of_two_machines_are_one_run(tmp_path: Path) -> None:
    """With their artifacts; the clock of the second is compared by collectives."""
    places = apart(tmp_path, rank_1={"told": ranked_runs.far(1, 3 * MS)})

    done = collecting.collect([str(place) for place in places], tmp_path / "out", silent)

    assert (done.taken, done.kept, done.refused, done.missing) == (["rank-000", "rank-001"], [], {}, ())
    assert (tmp_path / "out/rank-001/raw/kernels/w.json").read_text() == "1"
    found = ranked.find(str(tmp_path / "out"))
    assert found is not None
    summary = ranks.of_run(found)
    assert [(one.rank, one.host, one.steps) for one in summary.ranks] == [(0, "h", 40), (1, "other", 40)]
    assert (summary.clock.offset_ns, summary.of(0).collective_wait_ns) == (3 * MS, 7 * MS)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["manifest.json", "rank-000", "rank-001"]


def test_what_is_missing_can_come_later(tmp_path: Path) -> None:
    """The same command again copies only that."""
    first, second = apart(tmp_path)
    done = collecting.collect([str(first)], tmp_path / "out", silent)
    assert (done.world, done.missing) == (2, (1,))
    before = (tmp_path / "out/rank-000/manifest.json").stat().st_mtime_ns

    done = collecting.collect([str(first), str(second)], tmp_path / "out", silent)

    assert (done.taken, done.kept, done.missing) == (["rank-001"], ["rank-000"], ())
    assert (tmp_path / "out/rank-000/manifest.json").stat().st_mtime_ns == before


def test_a_rank_that_went_on_is_taken_again(tmp_path: Path) -> None:
    """And what was taken of it before is replaced as a whole; one that died as it is stays."""
    first, _ = apart(tmp_path)
    path = first / "rank-000" / "manifest.json"
    over = path.read_text()
    path.write_text(json.dumps({**json.loads(over), "state": "running", "process": {"pid": 42}}))
    collecting.collect([str(first)], tmp_path / "out", silent)
    assert collecting.collect([str(first)], tmp_path / "out", silent).kept == ["rank-000"]
    (first / "rank-000/raw/more").write_text("1")
    assert collecting.collect([str(first)], tmp_path / "out", silent).taken == ["rank-000"]
    path.write_text(over)

    assert collecting.collect([str(first)], tmp_path / "out", silent).taken == ["rank-000"]

    assert json.loads((tmp_path / "out/rank-000/manifest.json").read_text())["state"] == "finished"
    assert (tmp_path / "out/rank-000/raw/more").read_text() == "1"


def test_a_copy_that_was_ended_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a rank is none; the next one makes it whole."""
    first, second = apart(tmp_path)

    def ended(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as now:
        now.setattr(shutil, "copyfileobj", ended)
        with pytest.raises(KeyboardInterrupt):
            collecting.collect([str(first)], tmp_path / "out", silent)
    assert not (tmp_path / "out/rank-000").exists()

    done = collecting.collect([str(first), str(second)], tmp_path / "out", silent)

    assert done.taken == ["rank-000", "rank-001"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["manifest.json", "rank-000", "rank-001"]


@pytest.mark.parametrize("what", ["file", "folder", "pipe", "manifest", "rank"])
def test_links_and_pipes_of_a_stranger_s_folder_are_not_followed(tmp_path: Path, what: str) -> None:
    """The rank is refused with its name, others are taken, and nothing of the user's is copied."""
    first, second = apart(tmp_path)
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("mine")
    rank = second / "rank-001"
    if what == "file":
        (rank / "raw/x").symlink_to(secret / "key")
    elif what == "folder":
        (rank / "raw/x").symlink_to(secret)
    elif what == "pipe":
        os.mkfifo(rank / "raw/x")
    elif what == "manifest":
        shutil.copy(rank / "manifest.json", secret)
        (rank / "manifest.json").unlink()
        (rank / "manifest.json").symlink_to(secret / "manifest.json")
    else:
        rank.rename(secret / "rank-001")
        rank.symlink_to(secret / "rank-001")

    done = collecting.collect([str(first), str(second)], tmp_path / "out", silent)

    assert done.taken == ["rank-000"]
    assert len(done.refused) == 1
    assert not list((tmp_path / "out").rglob("key"))
    assert not list((tmp_path / "out").rglob("x"))
    assert not (tmp_path / "out/rank-001").exists()


def test_a_rank_of_another_training_is_refused(tmp_path: Path) -> None:
    """By how many there are to be, by when it ran, and by who is there already."""
    first, second = apart(tmp_path)
    path = second / "rank-001" / "manifest.json"
    text = json.loads(path.read_text())
    others: dict[str, dict[str, Any]] = {
        "it is one of 4 ranks, and rank-000, which is there, of 2": {"rank": {"rank": 1, "world": 4, "by": "RANK"}},
        "it ran at another time than rank-000": {"clock": {"origin_wall_ns": 90 * 3600 * S}},
        "rank-000 is there already, of another process": {
            "rank": {"rank": 0, "world": 2, "by": "RANK"}, "created": "2026-11-21T10:00:09+00:00"
        },
    }  # fmt: skip
    clock = json.loads((first / "rank-000/manifest.json").read_text())
    clock["clock"] = {"origin_wall_ns": S}
    (first / "rank-000/manifest.json").write_text(json.dumps(clock))
    for number, (why, changes) in enumerate(others.items()):
        path.write_text(json.dumps({**text, **changes}))
        done = collecting.collect([str(first), str(second)], tmp_path / f"out{number}", silent)
        assert done.taken == ["rank-000"]
        assert why in done.refused[f"{second}/rank-001"]


def test_ranks_below_a_launcher_that_was_followed_are_taken(tmp_path: Path) -> None:
    """Its other children are none."""
    whole = made(tmp_path)
    launcher = tmp_path / "run"
    (launcher / "children").mkdir(parents=True)
    for rank in (0, 1):
        (whole / f"rank-{rank:03d}").rename(launcher / "children" / f"00{rank}-train")
    other = json.loads((launcher / "children/001-train/manifest.json").read_text())
    (launcher / "children/002-tool").mkdir()
    (launcher / "children/002-tool/manifest.json").write_text(json.dumps({**other, "rank": None}))
    (launcher / "manifest.json").write_text(json.dumps({**other, "rank": None, "followed": {"runs": []}}))

    done = collecting.collect([str(launcher)], tmp_path / "out", silent)

    assert (done.taken, done.refused) == (["rank-000", "rank-001"], {})


def test_without_a_rank_nothing_is_left(tmp_path: Path) -> None:
    """A folder that is not there, and one without runs."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(NoInputError, match="No rank was gathered"):
        collecting.collect([str(tmp_path / "none"), str(tmp_path / "empty")], tmp_path / "out", silent)
    assert not (tmp_path / "out").exists()


def test_a_folder_with_other_things_in_it_is_not_used(tmp_path: Path) -> None:
    """Nothing of the user's is touched; a run is no folder of ranks."""
    first, _ = apart(tmp_path)
    with pytest.raises(CannotCreateError, match="exists and is not empty"):
        collecting.collect([str(first)], tmp_path, silent)
    with pytest.raises(CannotCreateError, match="cannot hold those of ranks"):
        collecting.collect([str(first)], first / "rank-000", silent)
