"""Which run a word means, and what is said where it means none."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from dlprof import run_names
from dlprof.errors import NoInputError
from dlprof.rundir import RunDir


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


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
        run_names.resolve(text)


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
        run_names.resolve(text)

    assert (raised.value.message, raised.value.hint) == (said, hint)


def test_a_run_is_called_by_what_finds_it_again(here: Path) -> None:
    """The last one, one below dlprof_runs/, any other; a shell takes the name as it is."""
    first, last, other = (
        stored(here / name, when)
        for when, name in enumerate(("dlprof_runs/first", "dlprof_runs/second", "runs/with space"), 1)
    )

    names = [run_names.name_to_type(run) for run in (first, last, other)]

    assert names == ["first", "last", "'runs/with space'"]
    assert [run_names.resolve(shlex.split(name)[0]) for name in names] == [first, last, other]


def test_a_run_far_away_is_called_by_its_path(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rather than by many steps upwards."""
    run = stored(here / "r", 1)
    monkeypatch.chdir("/")

    assert run_names.resolve(run_names.name_to_type(run)) == run


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
    assert run_names.resolve(text).path.name == name


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
        run_names.resolve(text)

    assert caught.value.message == said


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(("text", "expected"), [("mlp-jax", True), ("dlprof_runs/mlp-jax", True), ("runs/base", False)])
def test_a_run_is_a_folder_with_a_manifest(text: str, expected: bool) -> None:
    """By its path or its name."""
    assert run_names.is_run(text) is expected


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
        run_names.resolve("last")

    assert (caught.value.message, caught.value.hint) == (f"There is no run below dlprof_runs/ here, but {said}.", hint)


def test_manifests_of_other_programs_and_hidden_folders_are_no_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page for the browser has one, too."""
    monkeypatch.chdir(tmp_path)
    stored(Path("page/dist"), 1)
    stored(Path(".cache/run"), 1)
    Path(".cache/run/raw").mkdir()

    assert run_names.elsewhere(Path()) is None
