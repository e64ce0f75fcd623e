"""Run folders: names, what is in the way, what is found."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import psutil
import pytest

from dlprof import rundir
from dlprof.errors import CannotCreateError, NoInputError
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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("last", "There is no run below dlprof_runs/ here"),
        ("no-such", "There is no run no-such"),
        (".", ". is not a run folder: it has no manifest.json"),
    ],
)
def test_a_run_that_is_not_there_is_named(text: str, said: str) -> None:
    """With what was looked for."""
    with pytest.raises(NoInputError, match=said):
        rundir.resolve(text)


def stored(path: Path, when: int) -> RunDir:
    """A run folder with a manifest of some time."""
    path.mkdir(parents=True)
    (path / "manifest.json").write_text("{}")
    os.utime(path / "manifest.json", (when, when))
    return RunDir(path.absolute())


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        (
            "runs",
            "runs is not a run folder, but holds 7 runs, the newest first: deep/er/7, m/6, m/5, m/4, m/3 and 2 more.",
            "name one of them: dlprof report runs/deep/er/7",
        ),
        (
            "runs/deep/er",
            "runs/deep/er is not a run folder, but holds one run: 7.",
            "name one of them: dlprof report runs/deep/er/7",
        ),
        (
            "repeats",
            "dlprof_runs/repeats is not a run folder, but holds one run: 001.",
            "name one of them: dlprof report dlprof_runs/repeats/001",
        ),
    ],
)
def test_a_folder_that_holds_runs_tells_which(here: Path, text: str, said: str, hint: str) -> None:
    """The newest, and what to type for it; what lies in a run is none of them."""
    for number in range(1, 7):
        stored(here / "runs" / "m" / str(number), number)
    stored(here / "runs" / "m" / "6" / "children" / "001", 8)
    stored(here / "runs" / "deep" / "er" / "7", 7)
    stored(here / "dlprof_runs" / "repeats" / "001", 1)

    with pytest.raises(NoInputError) as raised:
        rundir.resolve(text)

    assert (raised.value.message, raised.value.hint) == (said, hint)


def test_a_run_is_called_by_what_finds_it_again(here: Path) -> None:
    """The last one, one below dlprof_runs/, any other; a shell takes the name as it is."""
    first, last, other = (
        stored(here / name, when)
        for when, name in enumerate(("dlprof_runs/first", "dlprof_runs/second", "runs/with space"), 1)
    )

    names = [rundir.name_to_type(run) for run in (first, last, other)]

    assert names == ["first", "last", "'runs/with space'"]
    assert [rundir.resolve(shlex.split(name)[0]) for name in names] == [first, last, other]


def test_a_run_far_away_is_called_by_its_path(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rather than by many steps upwards."""
    run = stored(here / "r", 1)
    monkeypatch.chdir("/")

    assert rundir.resolve(rundir.name_to_type(run)) == run


@pytest.fixture
def three(here: Path) -> Path:
    """The runs mlp-jax, mlp-torch and cnn-jax, in the order of their times, and repeats beside."""
    for number, name in enumerate(("mlp-jax", "mlp-torch", "cnn-jax"), 1):
        manifest = here / "dlprof_runs" / name / "manifest.json"
        manifest.parent.mkdir(parents=True)
        manifest.touch()
        os.utime(manifest, (number, number))
    (here / "runs" / "base" / "001").mkdir(parents=True)
    (here / "runs" / "base" / "001" / "manifest.json").touch()
    return here


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(("text", "name"), [("last", "cnn-jax"), ("last~0", "cnn-jax"), ("last~2", "mlp-jax")])
def test_runs_are_counted_from_the_last(text: str, name: str) -> None:
    """As commits are from HEAD."""
    assert rundir.resolve(text).path.name == name


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mlp-jxa", "There is no run mlp-jxa; did you mean mlp-jax?"),
        ("torch", "There is no run torch; did you mean mlp-torch?"),
        ("jax", "There is no run jax; did you mean cnn-jax or mlp-jax?"),
        ("ml", "There is no run ml."),
        ("lats", "There is no run lats; did you mean last?"),
        ("runs/bsae", "There is no run runs/bsae; did you mean runs/base?"),
        ("zzz", "There is no run zzz."),
        ("last~3", "There are only 3 runs below dlprof_runs/ here: no last~3."),
    ],
)
def test_a_misspelt_run_is_answered_with_the_nearest(text: str, said: str) -> None:
    """Below dlprof_runs/, or beside its path."""
    with pytest.raises(NoInputError) as caught:
        rundir.resolve(text)

    assert caught.value.message == said


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(("text", "expected"), [("mlp-jax", True), ("dlprof_runs/mlp-jax", True), ("runs/base", False)])
def test_a_run_is_a_folder_with_a_manifest(text: str, expected: bool) -> None:
    """By its path or its name."""
    assert rundir.is_run(text) is expected


def test_the_start_of_a_process_is_what_psutil_says() -> None:
    """To the tick: manifests of both are compared."""
    assert rundir.process_start(os.getpid()) == pytest.approx(psutil.Process().create_time(), abs=0.011)


def test_the_start_of_no_process_is_an_error() -> None:
    """Process numbers end at 2^22."""
    with pytest.raises(FileNotFoundError):
        rundir.process_start(1 << 30)


@pytest.mark.parametrize(
    ("folders", "said", "hint"),
    [
        (["runs/a/raw", "runs/b/tables", "base/1/raw"], "runs/ holds 2", "dlprof runs runs"),
        (["runs/base/001/raw"], "runs/base/ holds 1", "dlprof runs runs/base"),
        (["mine/raw"], "this folder holds 1", "dlprof runs ."),
    ],
)
def test_where_no_last_run_is_a_folder_that_holds_runs_is_named(
    folders: list[str], said: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that holds most."""
    monkeypatch.chdir(tmp_path)
    for inner in map(Path, folders):
        stored(inner.parent, 1)
        inner.mkdir()

    with pytest.raises(NoInputError) as caught:
        rundir.resolve("last")

    assert (caught.value.message, caught.value.hint) == (f"There is no run below dlprof_runs/ here, but {said}.", hint)


def test_manifests_of_other_programs_and_hidden_folders_are_no_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page for the browser has one, too."""
    monkeypatch.chdir(tmp_path)
    stored(Path("page/dist"), 1)
    stored(Path(".cache/run"), 1)
    Path(".cache/run/raw").mkdir()

    assert rundir.elsewhere(Path()) is None
