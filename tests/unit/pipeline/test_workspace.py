"""What cannot be read is told, and costs no more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dlprof.ingest.artifact import ArtifactError, NothingRecordedError
from dlprof.pipeline.probe_ends import Cut
from dlprof.pipeline.workspace import Workspace
from dlprof.rundir import RunDir
from dlprof.schema.manifest import HealthEntry, Manifest


def damaged(path: Path) -> None:
    """Read a file that is damaged."""
    raise ArtifactError("cut short", path=path, offset=3)


def empty(path: Path) -> None:
    """Read a file that was begun."""
    raise NothingRecordedError("it holds nothing", path=path)


def buggy(_path: Path) -> None:
    """Read a file with a bug."""
    raise KeyError("x")


@pytest.mark.parametrize(
    ("reader", "slug", "message"),
    [
        (damaged, "artifact-damaged", "a.json at byte 3: cut short."),
        (buggy, "artifact-damaged", "a.json holds what makes no sense (KeyError: 'x')."),
    ],
)
def test_an_artifact_that_cannot_be_read_is_a_line_of_the_health_section(
    tmp_path: Path, reader: Callable[[Path], None], slug: str, message: str
) -> None:
    """The other artifacts are read all the same."""
    (tmp_path / "a.json").touch()
    run = Workspace(RunDir(tmp_path), Manifest())

    run.read(tmp_path / "a.json", reader)

    assert [(line.slug, line.severity, line.message) for line in run.tables.health] == [(slug, "error", message)]


@pytest.mark.parametrize(
    ("reader", "cut"),
    [
        (damaged, Cut("raw/a.json at byte 3: cut short", is_damage=True)),
        (buggy, Cut("raw/a.json holds what makes no sense (KeyError: 'x')", is_damage=True)),
        (empty, Cut(None)),
    ],
)
def test_an_artifact_of_a_probe_tells_how_that_ended(tmp_path: Path, reader: Callable[[Path], None], cut: Cut) -> None:
    """It is no line of its own."""
    (tmp_path / "a.json").touch()
    run = Workspace(RunDir(tmp_path), Manifest())

    run.read(tmp_path / "a.json", reader, "cores")

    assert (run.cuts, run.tables.health) == ({"cores": cut}, [])


def test_an_artifact_that_is_not_there_is_passed_over(tmp_path: Path) -> None:
    """Its probe was off, or says itself why."""
    run = Workspace(RunDir(tmp_path), Manifest())

    run.read(tmp_path / "a.json", damaged)

    assert run.tables.health == []


def test_what_was_known_when_the_script_had_ended_is_told_first(tmp_path: Path) -> None:
    """Such as processes that it left."""
    entry = HealthEntry(slug="processes-left", severity="info", message="One is still running.", count=1)

    run = Workspace(RunDir(tmp_path), Manifest(health=(entry,)))

    assert [(line.slug, line.count) for line in run.tables.health] == [("processes-left", 1)]
