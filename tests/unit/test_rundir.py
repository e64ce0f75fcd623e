"""Run folders: names, what is in the way, what is found."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import psutil
import pytest

from dlprof import rundir
from dlprof.errors import CannotCreateError
from dlprof.rundir import RunDir

NOW = datetime(2026, 3, 4, 5, 6, 7)  # noqa: DTZ001  (local time, as in names of folders)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_without_a_name_goes_below_dlprof_runs() -> None:
    """By time and by what is run; a second one in the same second gets a number."""
    runs = [rundir.create(None, "mlp-torch", NOW).path.name for _ in range(2)]

    assert runs == ["20260304-050607-mlp-torch", "20260304-050607-mlp-torch-2"]


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_holds_something_is_not_written_to(here: Path, kind: str) -> None:
    """A file, or a folder with one."""
    (here / "folder").mkdir()
    (here / "folder" / "x").touch()
    (here / "file").touch()

    with pytest.raises(CannotCreateError, match=f"The output folder {kind} exists and is not empty"):
        rundir.create(Path(kind), "x", NOW)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("a" * 300, "Cannot write to a+: file name too long"),
        ("file/x", "Cannot write to file/x: (not a directory|file exists)"),
        ("bad\udcff", r"The name of the output folder bad\? is not UTF-8"),
    ],
    ids=["long", "below a file", "bytes"],
)
@pytest.mark.parametrize(
    "made", [lambda path: rundir.create(path, "x", NOW), lambda path: rundir.repeats_folder(path, "x")]
)
def test_a_folder_that_cannot_be_made_is_a_sentence(
    here: Path, name: str, sentence: str, made: Callable[[Path], object]
) -> None:
    """For one run or for several."""
    (here / "file").touch()

    with pytest.raises(CannotCreateError, match=sentence):
        made(Path(name))


def test_an_empty_folder_is_taken(here: Path) -> None:
    """As one that is not there."""
    (here / "empty").mkdir()

    assert rundir.create(Path("empty"), "x", NOW).raw.is_dir()
    assert [rundir.holds_something(Path(name)) for name in ("none", "empty")] == [False, True]


def test_nobody_else_may_look_into_a_new_run(here: Path) -> None:
    """It holds source text and command lines; what lies around it has the usual rights."""
    run = rundir.create(here / "runs" / "a", "x", NOW)

    assert oct(run.path.stat().st_mode & 0o777) == "0o700"
    assert oct((here / "runs").stat().st_mode & 0o777) == oct(0o777 & ~rundir.umask())


def test_segments_of_stacks_are_found_packed_or_not(here: Path) -> None:
    """In the order in which they were taken; their anchors are none."""
    (here / "raw").mkdir()
    for name in ("stacks-001.json", "stacks-000.json.gz", "stacks-000.anchor.json", "stacks-000.log"):
        (here / "raw" / name).touch()

    assert [path.name for path in RunDir(here).stack_files()] == ["stacks-000.json.gz", "stacks-001.json"]


def test_a_full_disk_is_a_reason(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Less than 64 KiB are free."""
    free = iter((65_535, 65_536))
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: _Usage(next(free)))

    assert [RunDir(here).disk_full(), RunDir(here).disk_full()] == ["the disk was full", None]


class _Usage:
    """What a disk has."""

    def __init__(self, free: int) -> None:
        self.free = free


def test_umask_is_read_and_left_as_it_was() -> None:
    """It can only be read by setting it."""
    before = os.umask(0o027)
    try:
        assert (rundir.umask(), rundir.umask()) == (0o027, 0o027)
    finally:
        os.umask(before)


def test_the_start_of_a_process_is_what_psutil_says() -> None:
    """To the tick: manifests of both are compared."""
    assert rundir.process_start(os.getpid()) == pytest.approx(psutil.Process().create_time(), abs=0.011)


def test_the_start_of_no_process_is_an_error() -> None:
    """Process numbers end at 2^22."""
    with pytest.raises(FileNotFoundError):
        rundir.process_start(1 << 30)


def test_a_run_of_a_script_whose_name_is_no_text_has_a_plain_name() -> None:
    """As of an old archive, or of any name but a plain one where the locale is C."""
    path = rundir.free_path("b\udcff-own", NOW)

    assert path == Path("dlprof_runs/20260304-050607-b_-own")
