"""Any one table may be lost for good: every report opens, and says so."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
from pathlib import Path

import pytest

from dlprof.analysis.compare import Side, compare
from dlprof.analysis.findings import diagnose
from dlprof.errors import BadDataError, UsageError
from dlprof.export import json_object
from dlprof.pipeline import importing, sound_tables
from dlprof.report import summary, text
from dlprof.report.html import run_page
from dlprof.report.json_text import print_json
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Probe
from dlprof.store import query
from dlprof.store.run import Run
from tests.unit import raw_runs
from tests.unit.pipeline.test_damaged_artifacts import artifacts

TRACE = Path(__file__).parents[2] / "data" / "traces" / "tracelens_jax_gemm_mi300x.xplane.pb"
TRACED = (
    "spans",
    "phases",
    "phase_intervals",
    "steps",
    "epochs",
    "metrics",
    "gc",
    "cores",
    "machine",
    "probes",
    "lines",
    "stacks",
    "frames",
    "gpu",
    "kernel_windows",
)
IMPORTED = ("kernel_ops", "kernel_events", "kernel_windows", "gpu_gaps", "sources", "skipped", "phases", "health")


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training without its raw artifacts."""
    probes = tuple(Probe(name=name) for name in ("phases", "lines", "stacks", "kernels", "cores", "gpu"))
    folder = raw_runs.make(tmp_path_factory.mktemp("traced") / "run", raw_runs.manifest(probes=probes))
    for name, content in artifacts():
        (folder.raw / name).parent.mkdir(parents=True, exist_ok=True)
        (folder.raw / name).write_text("".join(json.dumps(line) + "\n" for line in content))
    sound_tables.stored(folder)
    shutil.rmtree(folder.raw)
    return folder.path


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace of a GPU."""
    folder = tmp_path_factory.mktemp("imported") / "run"
    importing.import_files([TRACE], folder, reader=None, report=lambda _line: None)
    return folder


def without(source: Path, table: str, folder: Path) -> Run:
    """A copy of a run whose table has no bytes."""
    shutil.copytree(source, folder / "run")
    (folder / "run" / "tables" / f"{table}.parquet").write_bytes(b"")
    return sound_tables.stored(RunDir(folder / "run"))


def told(run: Run) -> str:
    """All reports of a run, in one text."""
    out = io.StringIO()
    text.print_answer(run, file=out)
    text.print_report(run, file=out)
    with contextlib.redirect_stdout(out):
        print_json(summary.summarise(run))
    return out.getvalue() + run_page.make(run, diagnose.brief(run))


@pytest.mark.slow
@pytest.mark.parametrize("table", TRACED)
def test_a_training_is_told_without_a_table(traced: Path, tmp_path: Path, table: str) -> None:
    """And that this one is lost is said in every report."""
    run = without(traced, table, tmp_path)

    assert next(iter(run.lost)) == table
    assert told(run).count("table-lost") >= 2


@pytest.mark.slow
@pytest.mark.parametrize("table", IMPORTED)
def test_a_foreign_trace_is_told_without_a_table(imported: Path, tmp_path: Path, table: str) -> None:
    """The same for a run of which no raw artifact was ever kept."""
    run = without(imported, table, tmp_path)

    assert next(iter(run.lost)) == table
    assert told(run).count("table-lost") >= 2


@pytest.mark.parametrize(
    ("table", "section"), [("steps", "steps"), ("phases", "phases"), ("cores", "machine"), ("probes", "costs")]
)
def test_a_section_says_why_it_is_not_there(traced: Path, tmp_path: Path, table: str, section: str) -> None:
    """It never says that there was none."""
    out = io.StringIO()

    text.print_sections(without(traced, table, tmp_path), [section], file=out)

    assert f"not measured, because the table {table} has 0 bytes instead of" in " ".join(out.getvalue().split())


def test_time_in_no_phase_is_not_known_without_the_phases(traced: Path, tmp_path: Path) -> None:
    """It is not all of the run."""
    report = summary.summarise(without(traced, "phases", tmp_path))

    assert report.unattributed_ns is None
    assert report.wall_ns == 10_000_000_000
    assert [lost.table for lost in report.lost_tables] == ["phases"]
    assert report.verdict.startswith("Where the time went is not known: the table phases has 0 bytes instead of")


def test_sql_knows_no_lost_table(traced: Path, tmp_path: Path) -> None:
    """A count of none would be a lie."""
    run = without(traced, "steps", tmp_path)

    assert query.ask(run, "SELECT count(*) FROM cores").rows == [(9,)]
    with pytest.raises(UsageError, match="Not there, because the table steps has 0 bytes instead of"):
        query.ask(run, "SELECT count(*) FROM steps")


def test_a_run_without_its_phases_is_not_compared(traced: Path, tmp_path: Path) -> None:
    """Its whole time would look as if it were in no phase."""
    run = without(traced, "phases", tmp_path)

    with pytest.raises(BadDataError, match="^This cannot be told of run, because the table phases has 0 bytes"):
        compare(Side("A", (run,)), Side("B", (run,)))


def test_the_json_names_lost_tables(traced: Path, tmp_path: Path) -> None:
    """With the reason."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        print_json(summary.summarise(without(traced, "gc", tmp_path)))

    (lost,) = json.loads(out.getvalue())["lost_tables"]

    assert lost["table"] == "gc"
    assert lost["why"].endswith("and cannot be made again: raw/cores.jsonl and 7 more are gone")


def test_an_export_leaves_a_lost_table_out_and_says_so(traced: Path, tmp_path: Path) -> None:
    """An empty file would say that there were no steps."""
    out = io.BytesIO()

    written = json_object.write(without(traced, "steps", tmp_path), out)

    made = json.loads(out.getvalue())
    assert "steps" not in made["tables"]
    assert [(left["table"], left["rows"]) for left in made["left_out"]] == [("steps", None)]
    assert written.endswith(", without steps (lost)")
