"""Which raw artifacts a run has, and has no longer."""

from __future__ import annotations

from pathlib import Path

from dlprof.pipeline import raw_artifacts
from dlprof.rundir import RunDir
from dlprof.store.seal import Seal


def test_sources_and_files_of_the_probes_among_themselves_are_none(tmp_path: Path) -> None:
    """No table is made of them; links are not followed."""
    folder = RunDir(tmp_path)
    (folder.raw / "sources").mkdir(parents=True)
    (folder.raw / "kernels").mkdir()
    for name in ("sources/train.py", "inproc.status", "sampler.json", "lines.json", "kernels/window-000.json"):
        (folder.raw / name).write_text("12345")
    (folder.raw / "link.json").symlink_to(folder.raw / "lines.json")

    assert raw_artifacts.sizes(folder) == {"lines.json": 5, "kernels/window-000.json": 5}


def test_an_artifact_that_was_unpacked_is_there(tmp_path: Path) -> None:
    """In either form."""
    folder = RunDir(tmp_path)
    folder.raw.mkdir()
    (folder.raw / "stacks-000.json").write_text("[]")
    (folder.raw / "profile.json.gz").write_text("x")
    made_of = {"stacks-000.json.gz": 100, "profile.json": 100, "lines.json": 2}

    assert raw_artifacts.gone(folder, Seal(7, {}, made_of)) == ["lines.json"]


def test_tables_that_do_not_say_what_they_were_made_of_are_asked_one_by_one(tmp_path: Path) -> None:
    """Steps come of the stream, lines of counts or of stacks."""
    folder = RunDir(tmp_path)
    folder.raw.mkdir()
    folder.tables.mkdir()
    for name in ("steps", "lines", "machine"):
        (folder.tables / f"{name}.parquet").touch()
    (folder.raw / "stacks-000.json.gz").touch()

    assert raw_artifacts.gone(folder, None) == ["inproc.wire"]


def test_artifacts_are_named_with_their_verb() -> None:
    """One, or the first of several."""
    assert raw_artifacts.named(["a"]) == "raw/a is"
    assert raw_artifacts.named(["a", "b", "c"]) == "raw/a and 2 more are"
