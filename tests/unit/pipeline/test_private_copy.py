"""Tables of a run in a folder that somebody else may change are made of a copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof import run_names
from dlprof.errors import BadDataError
from dlprof.pipeline import opening, private_copy
from dlprof.rundir import RunDir
from tests.unit import runs


def told(folder: Path) -> RunDir:
    """A run without tables, in a folder to which everybody may write."""
    run = runs.make(folder, {**runs.manifest(), "tables_version": 0}).folder
    run.raw.joinpath("lines.json").write_text("{}")
    folder.chmod(0o777)
    return run


def test_a_folder_that_everybody_may_change_is_left_as_it_is(tmp_path: Path) -> None:
    """The run is shown all the same, under its own name and place."""
    folder = told(tmp_path / "run")
    before = (folder.manifest_path.read_bytes(), sorted(folder.path.rglob("*")))

    opened = opening.open_run(str(tmp_path / "run"))

    assert opened.name == "run"
    assert opened.has("phase_intervals")
    assert opened.folder.place == tmp_path / "run"
    assert run_names.name_to_type(opened.folder) == run_names.name_to_type(folder)
    assert (folder.manifest_path.read_bytes(), sorted(folder.path.rglob("*"))) == before


def test_a_link_is_not_copied(tmp_path: Path) -> None:
    """One that was put there after the folder had been looked at."""
    folder = told(tmp_path / "run")
    (folder.raw / "cores.jsonl").symlink_to("/etc/passwd")

    with pytest.raises(BadDataError, match=r"raw/cores.jsonl is a link"):
        private_copy.of(folder)
