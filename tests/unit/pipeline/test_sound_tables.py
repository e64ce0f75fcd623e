"""A run is opened with the tables that it was given, or with the same ones made again, or it says which are lost."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec import structs

from dlprof.errors import BadDataError, UsageError
from dlprof.pipeline import sound_tables
from dlprof.rundir import RunDir
from dlprof.schema.tables import SCHEMA_VERSION, TABLES
from dlprof.schema.vocabulary import RunState
from tests.unit import raw_runs


@pytest.fixture
def folder(tmp_path: Path) -> RunDir:
    """A run with its tables: 55 steps, 9 samples of a core."""
    made = raw_runs.make(tmp_path / "run")
    sound_tables.stored(made)
    return made


def flip(path: Path) -> None:
    """Change a byte in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


def flip_all(run: RunDir) -> None:
    """Change a byte in every table."""
    for path in run.tables.glob("*.parquet"):
        flip(path)


def another_type(path: Path) -> None:
    """The same table with text for numbers."""
    table = pq.read_table(path)
    pq.write_table(table.set_column(6, "epoch", pa.array(["x"] * table.num_rows)), path)


DAMAGES: list[Callable[[RunDir], object]] = [
    lambda run: shutil.rmtree(run.tables),
    lambda run: (run.tables / "steps.parquet").unlink(),
    lambda run: flip(run.tables / "steps.parquet"),
    lambda run: (run.tables / "steps.parquet").write_bytes(b""),
    lambda run: another_type(run.tables / "steps.parquet"),
    lambda run: (run.tables / "tables.json").unlink(),
    lambda run: (run.tables / "tables.json").write_text("{"),
    lambda run: run.tables.rename(run.tables.with_name("tables.old")),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_tables_are_made_again(folder: RunDir, damage: Callable[[RunDir], object]) -> None:
    """Whatever was done to them, the run has the same figures after it."""
    before = sound_tables.stored(folder).rows("phases")
    damage(folder)

    run = sound_tables.stored(folder)

    assert (run.count("steps"), run.count("cores")) == (55, 9)
    assert run.rows("phases") == before
    assert run.rows("health") == []


@pytest.mark.parametrize("damage", DAMAGES[1:5])
def test_a_damaged_table_without_raw_artifacts_is_lost_and_all_others_are_shown(
    folder: RunDir, damage: Callable[[RunDir], object]
) -> None:
    """Nothing is made of nothing: what is left stays, and it is said what is not there."""
    shutil.rmtree(folder.raw)
    damage(folder)
    left = sorted(path.name for path in folder.tables.glob("*"))

    run = sound_tables.stored(folder)

    assert (run.count("cores"), run.has("steps"), list(run.lost)) == (9, False, ["steps"])
    assert [row["slug"] for row in run.rows("health")] == ["table-lost"]
    assert sorted(path.name for path in folder.tables.glob("*")) == left


def test_why_a_table_is_lost_is_said_in_the_health_section(folder: RunDir) -> None:
    """What is wrong with it, why it cannot be mended, and what follows."""
    shutil.rmtree(folder.raw)
    (folder.tables / "steps.parquet").unlink()

    run = sound_tables.stored(folder)

    assert run.rows("health") == [
        {
            "slug": "table-lost",
            "severity": "error",
            "message": (
                "The table steps is gone, and cannot be made again: raw/cores.jsonl and 1 more are gone: what was in it "
                "is in no figure."
            ),
            "count": None,
        }
    ]


@pytest.mark.parametrize("damage", [DAMAGES[0], flip_all])
def test_a_run_without_any_sound_table_and_without_raw_artifacts_is_refused(
    folder: RunDir, damage: Callable[[RunDir], object]
) -> None:
    """There is nothing to tell."""
    shutil.rmtree(folder.raw)
    damage(folder)

    with pytest.raises(BadDataError, match=r"^The tables of run are (gone|damaged).*, and cannot be made again: "):
        sound_tables.stored(folder)


def test_a_damaged_table_whose_own_artifact_is_there_is_mended_though_another_one_is_gone(folder: RunDir) -> None:
    """It comes out byte by byte as it was sealed; the table of which the artifact is gone stays."""
    before = (folder.tables / "steps.parquet").read_bytes()
    flip(folder.tables / "steps.parquet")
    (folder.raw / "cores.jsonl").unlink()

    run = sound_tables.stored(folder)

    assert (run.count("steps"), run.count("cores"), run.lost, run.rows("health")) == (55, 9, {}, [])
    assert (folder.tables / "steps.parquet").read_bytes() == before


def test_a_damaged_table_whose_own_artifact_is_gone_is_not_made_of_others(folder: RunDir) -> None:
    """Its samples are lost; the steps are still there."""
    flip(folder.tables / "cores.parquet")
    (folder.raw / "cores.jsonl").unlink()

    run = sound_tables.stored(folder)

    assert (run.count("steps"), run.count("cores")) == (55, 0)
    assert run.lost == {
        "cores": (
            "the table cores has other bytes than were written, and cannot be made again: raw/cores.jsonl is gone"
        )
    }


def test_where_no_table_is_sound_all_are_made_of_what_is_left(folder: RunDir) -> None:
    """Nothing is replaced that could be shown, and the missing samples are told by the health section."""
    flip_all(folder)
    (folder.raw / "cores.jsonl").unlink()

    run = sound_tables.stored(folder)

    assert (run.count("steps"), run.count("cores"), run.lost) == (55, 0, {})
    assert [row["slug"] for row in run.rows("health")] == ["cores-cut"]


def test_sound_tables_need_no_raw_artifacts(folder: RunDir) -> None:
    """They are the run."""
    shutil.rmtree(folder.raw)

    run = sound_tables.stored(folder)

    assert (run.count("steps"), run.rows("health")) == (55, [])


@pytest.mark.parametrize(("artifact", "left"), [("inproc.wire", None), ("cores.jsonl", None), ("inproc.wire", 100)])
def test_sound_tables_are_not_replaced_by_poorer_ones(folder: RunDir, artifact: str, left: int | None) -> None:
    """Of which a raw artifact is gone, or has become shorter."""
    content = (folder.raw / artifact).read_bytes()
    (folder.raw / artifact).write_bytes(content[:left]) if left else (folder.raw / artifact).unlink()

    with pytest.raises(UsageError) as error:
        sound_tables.stored(folder, rebuild=True)

    assert error.value.message == (
        f"The tables of run stay as they are: raw/{artifact} is gone, and they cannot be made again."
    )
    assert sound_tables.stored(folder).count("steps") == 55


def test_a_packed_artifact_is_not_gone(folder: RunDir) -> None:
    """Packing does not change what it says."""
    seal = json.loads((folder.tables / "tables.json").read_text())
    seal["made_of"]["stacks-000.json"] = 5_000
    (folder.tables / "tables.json").write_text(json.dumps(seal))
    (folder.raw / "stacks-000.json.gz").write_bytes(b"x")

    assert sound_tables.stored(folder, rebuild=True).count("steps") == 55


def older(folder: RunDir) -> None:
    """Make it one of a dlprof before tables were sealed."""
    (folder.tables / "tables.json").unlink()
    for path in folder.tables.glob("*.parquet"):
        table = pq.read_table(path)
        pq.write_table(table.replace_schema_metadata({b"dlprof_schema_version": b"6"}), path)
    folder.write_manifest(structs.replace(folder.read_manifest(), tables_version=6))


def test_tables_of_an_older_dlprof_are_made_anew(folder: RunDir) -> None:
    """By what this one knows."""
    older(folder)

    run = sound_tables.stored(folder)

    assert run.manifest.tables_version == SCHEMA_VERSION
    assert (folder.tables / "tables.json").is_file()


def test_tables_of_an_older_dlprof_stay_where_they_cannot_be_made_anew(folder: RunDir) -> None:
    """And it is said that they are old."""
    older(folder)
    shutil.rmtree(folder.raw)

    run = sound_tables.stored(folder)

    assert run.count("steps") == 55
    assert [(row["slug"], row["message"]) for row in run.rows("health")] == [
        (
            "tables-old",
            (
                "The tables are of an older dlprof (schema 6 instead of 12) and stay as they are, for raw/inproc.wire and "
                "2 more are gone: what that one did not record is not known."
            ),
        )
    ]


def test_tables_of_a_newer_dlprof_are_refused(folder: RunDir) -> None:
    """They are never made anew as older ones."""
    seal = json.loads((folder.tables / "tables.json").read_text())
    (folder.tables / "tables.json").write_text(json.dumps({**seal, "schema_version": 99}))

    with pytest.raises(BadDataError, match=r"made by a newer dlprof \(schema 99\)"):
        sound_tables.stored(folder)


def test_an_imported_run_is_not_made_again(folder: RunDir) -> None:
    """It keeps none of its files: neither when that is asked for, nor when it is damaged."""
    folder.write_manifest(structs.replace(folder.read_manifest(), state=RunState.IMPORTED))

    with pytest.raises(UsageError, match=r"^--rebuild is of no use: run was imported"):
        sound_tables.stored(folder, rebuild=True)
    flip(folder.tables / "steps.parquet")
    assert sound_tables.stored(folder).lost == {
        "steps": (
            "the table steps has other bytes than were written, and a run that was imported keeps none of the files that it "
            "was made of"
        )
    }


def test_a_rebuild_that_is_interrupted_leaves_the_tables(folder: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    """By Ctrl-C in the middle of writing."""
    monkeypatch.setattr("dlprof.pipeline.run_tables.write_tables", interrupted)

    with pytest.raises(KeyboardInterrupt):
        sound_tables.stored(folder, rebuild=True)

    assert sorted(path.name for path in folder.path.iterdir()) == ["manifest.json", "raw", "tables"]
    assert sound_tables.stored(folder).count("steps") == 55


def interrupted(*_args: object) -> None:
    """As Ctrl-C does."""
    raise KeyboardInterrupt


def test_a_run_of_which_nothing_was_recorded_opens(tmp_path: Path) -> None:
    """Dlprof was killed before anything was written: there are no figures, and none is made up."""
    folder = RunDir(tmp_path / "run")
    folder.raw.mkdir(parents=True)
    folder.write_manifest(raw_runs.manifest(process=structs.replace(raw_runs.manifest().process, wall_ns=None)))

    run = sound_tables.stored(folder)

    assert (run.wall_ns, run.rows("phases")) == (None, [])


def test_many_open_a_run_without_tables_at_once(tmp_path: Path) -> None:
    """One of them makes the tables, the others wait for it."""
    folder = raw_runs.make(tmp_path / "run")

    with ThreadPoolExecutor(4) as pool:
        counts = list(pool.map(lambda _: sound_tables.stored(folder).count("steps"), range(4)))

    assert counts == [55] * 4
    assert set(TABLES) >= {path.stem for path in folder.tables.glob("*.parquet")}
