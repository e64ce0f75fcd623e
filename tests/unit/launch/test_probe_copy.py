"""The copy of the probe that is kept between runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dlprof.launch import bytecode, probe_copy


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of this test's own."""
    folder = tmp_path / "data"
    monkeypatch.setenv("DLPROF_DATA", str(folder))
    return folder


def test_it_is_made_once(data: Path, tmp_path: Path) -> None:
    """What Python compiles beside it is there for the next run."""
    first = probe_copy.place(tmp_path / "own")
    (first / "dlprof_probes" / "compiled").touch()

    again = probe_copy.place(tmp_path / "own")

    assert (again, first.parent) == (first, data / "probe")
    assert (again / "dlprof_probes" / "compiled").is_file()
    assert not (tmp_path / "own").exists()


def test_one_that_was_changed_is_made_anew(tmp_path: Path) -> None:
    """Nothing else than dlprof's own probe runs in the user's process."""
    copy = probe_copy.place(tmp_path / "own") / "dlprof_probes" / "wire.py"
    told = copy.read_bytes()
    copy.write_bytes(b"raise SystemExit")

    probe_copy.place(tmp_path / "own")

    assert copy.read_bytes() == told


def test_where_none_can_be_kept_the_run_has_its_own(data: Path, tmp_path: Path) -> None:
    """A data folder that cannot be written to keeps nobody from tracing."""
    data.write_text("in the way")

    assert probe_copy.place(tmp_path / "own") == tmp_path / "own"
    assert (tmp_path / "own" / "dlprof_probes" / "inproc" / "entry" / "__main__.py").is_file()


def test_where_files_may_only_be_small_the_run_has_its_own(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python would keep the beginning of a compiled module, and no later run could load that: here it keeps none."""
    monkeypatch.setattr(bytecode, "may_be_cut", lambda _folder: True)

    own = probe_copy.place(tmp_path / "own")
    assert probe_copy.place(tmp_path / "own") == own  # as where children are followed

    assert (own, data.exists()) == (tmp_path / "own", False)
    assert (own / "dlprof_probes" / "inproc" / "probe.py").is_symlink()  # no copy that would be cut itself
    assert (own / "dlprof_probes" / "inproc" / "hooks" / "__pycache__").is_file()


def test_copies_of_other_versions_go_when_they_are_old(data: Path, tmp_path: Path) -> None:
    """Those that a run may still use stay."""
    for name, age_s in (("old", 61 * 86400), ("new", 86400)):
        (data / "probe" / name).mkdir(parents=True)
        os.utime(data / "probe" / name, (0, os.stat(data).st_mtime - age_s))

    kept = probe_copy.place(tmp_path / "own")

    assert sorted(path.name for path in (data / "probe").iterdir()) == sorted(["new", kept.name])


def test_no_compiled_file_is_copied(tmp_path: Path) -> None:
    """Only sources: each Python makes its own."""
    copy = probe_copy.place(tmp_path / "own")

    assert {path.suffix for path in copy.rglob("*") if path.is_file()} == {".py"}


def test_a_copy_that_another_run_has_just_made_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs by now: ranks of one training begin at one moment, and all of them may find none."""
    first = probe_copy.place(tmp_path / "own")
    (first / "dlprof_probes" / "in_use").touch()
    answers = iter([False])  # as it was when this one looked for it
    looked = probe_copy._is_whole
    monkeypatch.setattr(probe_copy, "_is_whole", lambda *args: next(answers, None) is not False and looked(*args))

    assert probe_copy.place(tmp_path / "own") == first
    assert (first / "dlprof_probes" / "in_use").is_file()
