"""Exports, read by the programs that they are for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.errors import UnavailableError
from dlprof.export import chrome, mlflow_run, perfetto, tensorboard, wandb_run
from dlprof.report.markdown_text import plain
from dlprof.store.run import Run
from tests import perfetto as engine
from tests.unit.export.run_of_everything import HOSTILE, whole
from tests.unit.runs import S, losses, make, manifest, phases

pytestmark = pytest.mark.integration

WRITERS = pytest.mark.parametrize("writer", [perfetto, chrome], ids=["perfetto", "chrome"])
SLICES = 4 + 1 + 3 + 2 + 3 * 5 + 6 + 1 + 3
"""Of the whole run: leaf phases, `fit`, calls, epochs, steps with their parts, executions, a collection, frames."""
WRONG = "select name, value from stats where severity in ('error', 'data_loss') and value > 0"
OVERLAPPING = (
    "select count(*) from slice a join slice b using (track_id) "
    "where a.id < b.id and a.ts < b.ts and b.ts < a.ts + a.dur and b.ts + b.dur > a.ts + a.dur"
)


def written(writer: Any, run: Run, path: Path) -> Path:
    """The run as a file of this format."""
    with path.open("wb") as out:
        writer.write(run, out)
    return path


@WRITERS
def test_perfetto_has_every_slice_and_nothing_to_complain_about(writer: Any, tmp_path: Path) -> None:
    """Its trace processor counts as many as the run has, finds no error, and no slice that overlaps another."""
    trace = written(writer, whole(tmp_path / "run"), tmp_path / "trace")

    counted, wrong, overlapping, open_ = engine.ask(
        trace, "select count(*) from slice", WRONG, OVERLAPPING, "select count(*) from slice where dur < 0"
    )

    assert (counted, wrong, overlapping, open_) == ([[SLICES]], [], [[0]], [[0]])


def test_perfetto_keeps_nanoseconds_and_nesting(tmp_path: Path) -> None:
    """Times are of CLOCK_MONOTONIC, and slices with equal times are within each other."""
    trace = written(perfetto, whole(tmp_path / "run"), tmp_path / "trace")

    kernels, python = engine.ask(
        trace,
        "select ts - 1000000000000000, dur, t.name from slice s join track t on t.id = track_id "
        "where t.name like 'stream%' order by ts, t.name",
        "select depth, dur from slice s join track t on t.id = track_id where t.name = 'python' order by depth",
    )

    assert kernels == [
        [3_000_000_001, 100, "stream 7"],
        [3_000_000_001, 0, "stream 9"],
        [3_000_000_050, 100, "stream 7 #2"],
        [3_000_000_101, 100, "stream 7"],
    ]
    assert python == [[0, 1000], [1, 1000]]


@WRITERS
def test_perfetto_has_hostile_names_as_text(writer: Any, tmp_path: Path) -> None:
    """Letter by letter, but for what its own strings cannot hold: everything after a zero byte."""
    run = whole(tmp_path / "run")
    trace = written(writer, run, tmp_path / "trace")

    names, longest = engine.ask(
        trace, "select distinct name from slice where name like '=<%'", "select max(length(name)) from slice"
    )

    assert names[0][0].startswith(HOSTILE.partition("\x00")[0])
    assert longest == [[10_000]]


@WRITERS
def test_perfetto_has_the_facts_of_a_kernel(writer: Any, tmp_path: Path) -> None:
    """As arguments of its slice."""
    trace = written(writer, whole(tmp_path / "run"), tmp_path / "trace")
    wanted = ("layer", "direction", "category", "step", "delay_ns", "source")
    query = (
        "select distinct key, display_value from slice join args using (arg_set_id) where category in ('kernel', 'fit')"
    )

    (found,) = engine.ask(trace, query)

    facts = {key.removeprefix("debug.").removeprefix("args."): value for key, value in found}
    assert {name: facts[name] for name in wanted} == {
        "layer": "dense",
        "direction": "forward",
        "category": "matmul",
        "step": "0",
        "delay_ns": "7",
        "source": "train.py:7",
    }


@WRITERS
def test_perfetto_has_the_curves(writer: Any, tmp_path: Path) -> None:
    """With their values, and none where nothing was measured."""
    trace = written(writer, whole(tmp_path / "run"), tmp_path / "trace")

    (found,) = engine.ask(
        trace,
        "select value from counter c join counter_track t on t.id = c.track_id where t.name like 'core%' order by ts",
    )

    assert found == [[50.0], [25.5]]


@pytest.fixture
def board(tmp_path: Path) -> Any:
    """The whole run as TensorBoard's own loader sees it."""
    loader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    folder = tmp_path / "logs"
    folder.mkdir()
    tensorboard.write(whole(tmp_path / "run"), folder)
    found = loader.EventAccumulator(str(folder))
    found.Reload()
    return found


def scalars(board: Any, tag: str) -> list[tuple[int, float]]:
    """Steps and values of a tag."""
    return [(event.step, event.value) for event in board.Scalars(tag)]


def test_tensorboard_has_metrics_of_epochs_and_steps(board: Any) -> None:
    """A metric of a step has the running number of its step; the name is text, whatever is in it."""
    assert scalars(board, "epoch/loss") == [(0, 1.0), (1, 0.5)]
    assert scalars(board, f"train step/{HOSTILE}") == [(1, 0.25)]


def test_tensorboard_has_times_of_steps_and_epochs(board: Any) -> None:
    """In the unit that the tag says, at the time of day at which they ended."""
    assert scalars(board, "train step/time (ms)") == [(0, 21.0), (1, 21.0), (2, 21.0)]
    assert scalars(board, "train step/input (ms)") == [(0, 1.0), (1, 1.0), (2, 1.0)]
    assert scalars(board, "epoch/time (s)") == [(0, 3.0), (1, 3.0)]
    assert [event.wall_time for event in board.Scalars("epoch/time (s)")] == [1_800_000_005.0, 1_800_000_008.0]


def test_tensorboard_has_the_curves_of_the_machine(board: Any) -> None:
    """Their steps are milliseconds; what was not measured is not there."""
    assert scalars(board, "machine/core 0 busy (%)") == [(0, 50.0), (2000, 25.5)]
    assert scalars(board, "GPU 0/power (W)") == [(1000, 70.5)]


def test_tensorboard_has_phases_and_findings_as_text(board: Any) -> None:
    """In Markdown."""
    texts = {tag: board.Tensors(tag)[0].tensor_proto.string_val[0].decode() for tag in board.Tags()["tensors"]}

    assert texts["dlprof/phases"].splitlines()[:3] == [
        "|phase|time|% of the run|entries|",
        "|---|---:|---:|---:|",
        "|startup|2.00 s|20.0|1|",
    ]
    assert "cause" in texts["dlprof/findings"]


def test_tensorboard_shows_names_from_outside_as_text() -> None:
    """Its own Markdown makes of them what they were: no markup, no cell, no link."""
    shown = pytest.importorskip("tensorboard.plugin_util")
    hostile = "<script>x</script> **b** [l](http://h) `c` | # _u_ &lt; 1. \\ z"

    html = shown.markdowns_to_safe_html([f"|a|\n|---|\n|{plain(hostile)}|"], "".join)

    assert "<td>&lt;script&gt;x&lt;/script&gt; **b** [l](http://h) `c` &#124; # _u_ &amp;lt; 1. &#92; z</td>" in html


@pytest.fixture
def dated(tmp_path: Path) -> Run:
    """A run that knows when it was, with losses of two epochs."""
    clock = {"origin_perf_ns": 5, "origin_wall_ns": 1_700_000_000 * S}
    return make(tmp_path / "r", manifest(clock=clock), metrics=losses(1.0, 0.5), phases=phases(fit_steps=5))


def test_mlflow_has_the_run_once(dated: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own client reads parameters, figures, each epoch's loss and the files; a second time is refused."""
    import mlflow

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # its other stores need more than its small package
    store = (tmp_path / "store").as_uri()

    assert "of experiment train.py" in mlflow_run.send(dated, store)
    with pytest.raises(UnavailableError, match="MLflow has this run already"):
        mlflow_run.send(dated, store)

    client = mlflow.MlflowClient(store)
    (experiment,) = client.search_experiments(filter_string="name = 'train.py'")
    (found,) = client.search_runs([experiment.experiment_id])
    assert (found.info.run_name, found.info.status, found.info.start_time) == ("r", "FINISHED", 1_700_000_000_000)
    assert (found.data.params["backend"], found.data.metrics["phase_s/fit.steps"]) == ("torch", 5.0)
    history = client.get_metric_history(found.info.run_id, "loss")
    assert [(one.step, one.value) for one in history] == [(0, 1.0), (1, 0.5)]
    assert [one.path for one in client.list_artifacts(found.info.run_id)] == ["page.html", "report.json"]


def test_mlflow_that_does_not_answer_is_told_of(dated: Run) -> None:
    """With where to look."""
    with pytest.raises(UnavailableError, match=r"MLflow does not answer at http://127.0.0.1:9\.") as raised:
        mlflow_run.send(dated, "http://127.0.0.1:9")

    assert "MLFLOW_TRACKING_URI" in (raised.value.hint or "")


def test_wandb_writes_the_run_into_a_folder(dated: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For `wandb sync`: losses, figures and the artifact are in its log, and nothing is said on the terminal."""
    for name in ("WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_DATA_DIR", "WANDB_ARTIFACT_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "wandb-own"))

    said = wandb_run.send(dated, str(tmp_path))

    (log,) = tmp_path.glob("wandb/offline-run-*/run-dlprof-1700000000000000000-42.wandb")
    content = log.read_bytes()
    assert all(text in content for text in (b"loss", b"dlprof/phase_s/fit.steps", b"page.html"))
    assert said.endswith(str(log.parent))
