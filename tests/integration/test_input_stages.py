"""Where batches come from: stages of the engine's own pipelines, and workers of Gluon's loader."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration import runner

pytestmark = pytest.mark.integration

SCRIPTS = Path(__file__).parent / "own_loops"


def test_the_slowest_stage_of_tf_data_is_told_with_its_line_and_function(tmp_path: Path) -> None:
    """In order from the step to the source; what the engine put in has no line."""
    # Without a budget the window has its ten steps: of one step, not each stage has a call that began and ended in it.
    flags = ("--backend", "native-tensorflow", "--budget", "off")
    done = runner.trace(str(SCRIPTS / "tensorflow_pipeline.py"), *flags, cwd=tmp_path)
    assert done.code == 0, done.err

    (graph,) = runner.report(tmp_path)["input_graphs"]
    assert [(one["name"], one["line"], one["function"]) for one in graph["stages"]] == [
        ("Root", None, None),
        ("Prefetch", 21, None),
        ("BatchV2", 21, None),
        ("Shuffle", 20, None),
        ("ParallelMapV2", 20, "slow"),
        ("FlatMap", 19, None),
        ("Generator", 19, None),
    ]
    assert graph["stages"][graph["slowest"]]["name"] == "ParallelMapV2"
    assert graph["stages"][2]["batch_size"] == 8


@pytest.mark.parametrize("workers", [0, 2])
def test_passes_and_workers_of_gluons_loader_are_told(tmp_path: Path, workers: int) -> None:
    """Its rows sleep: that is what the workers do, or the thread that trains."""
    script = str(SCRIPTS / "gluon_workers.py")
    done = runner.trace(script, "--backend", "native-gluon", "--", str(workers), cwd=tmp_path)
    assert done.code == 0, done.err

    content = runner.report(tmp_path)
    assert [(one["epochs"], one["steps"]) for one in content["loops"]] == [(2, 16)]
    (pipeline,) = content["input_pipelines"]
    loader = pipeline["loader"]
    assert (loader["kind"], loader["dataset"], loader["workers"]) == ("Gluon DataLoader", "Slow", workers)
    assert ([one["items"] for one in loader["passes"]], len(loader["processes"])) == ([8, 8], workers)
    makers = pipeline["workers"] or [pipeline["calling"]]
    assert [one["lines"][0]["line"] for one in makers] == [15] * len(makers)
