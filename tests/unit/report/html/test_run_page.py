"""The page of a run."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Diagnosis, Finding
from dlprof.report import summary
from dlprof.report.html import run_page
from dlprof.report.json_text import plain
from dlprof.schema.vocabulary import Basis
from tests.unit.report.html.pages import Elements, embedded, page_of
from tests.unit.runs import S, losses, make, manifest, phases, trained, window


def test_a_page_carries_the_report_as_json(tmp_path: Path) -> None:
    """The same object as `dlprof report --json`."""
    run = trained(tmp_path / "r")
    report = summary.summarise(run, top=25, diagnosis=diagnose.brief(run))
    assert embedded(page_of(run), "report.json") == json.loads(json.dumps(plain(report)))


def test_phases_are_shown_with_the_figures_of_the_report(tmp_path: Path) -> None:
    """6 s of 10 s are fit."""
    text = page_of(trained(tmp_path / "r"))
    assert '<td class="number" data-phase="fit">6.00 s</td><td class="number">60.0</td>' in text


def test_a_run_without_keras_is_on_its_engine(tmp_path: Path) -> None:
    """Where its interpreter came from is no name of it."""
    alone = manifest(keras=None, backend={**manifest()["backend"], "name": None, "source": "python"})

    assert "<h1>train.py on torch</h1>" in run_page.make(make(tmp_path / "r", alone), None)


def test_a_run_that_cannot_be_diagnosed_says_why(tmp_path: Path) -> None:
    """In place of findings."""
    text = run_page.make(trained(tmp_path / "r"), None, "nothing was seen.")
    assert "Not diagnosed, because nothing was seen." in Elements(text).text


def test_a_diverged_run_is_valid_json(tmp_path: Path) -> None:
    """A loss that is not a number stands there as a text."""
    epochs = [{"loop_id": 1, "epoch": 0, "start_ns": 2 * S, "dur_ns": S, "steps": 250}]
    run = trained(tmp_path / "r", metrics=losses(float("nan")), epochs=epochs)
    found = re.search(r'id="report.json">(.*?)</script>', page_of(run), re.DOTALL)
    assert found
    report = json.loads(found[1], parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert report["epochs"][0]["metrics"]["loss"] == "NaN"


def test_a_long_file_does_not_drive_a_short_one_off(tmp_path: Path) -> None:
    """7,000 lines are too many for a page, 40 are not."""
    lines = [
        {"file": f, "function": "f", "first_line": 1, "line": n, "hits": 1, "time_ns": t, "source": "x"}
        for f, n, t in (*(("long.py", n, 9) for n in range(1, 7001)), ("train.py", 40, 5))
    ]
    text = page_of(trained(tmp_path / "r", lines=lines))
    assert 'id="L-train_2e_py-40"' in text
    assert 'id="L-long_2e_py-7000"' not in text
    assert "Too long for this page" in text


def test_of_a_file_that_is_not_at_hand_only_lines_that_are_known_are_on_the_page(tmp_path: Path) -> None:
    """A line of a damaged stack may be the 437,321,509th: nothing is made of those before it."""
    lines = [
        {
            "file": "gone.py",
            "function": "f",
            "first_line": 1,
            "line": 437_321_509,
            "hits": 1,
            "time_ns": 5,
            "source": "x",
        }
    ]

    assert page_of(trained(tmp_path / "r", lines=lines)).count('id="L-gone') == 1


def test_figures_of_gpus_have_their_units(tmp_path: Path) -> None:
    """And what was not measured is said to be so."""
    run = trained(tmp_path / "r", manifest(gpus=[{"gpu": 0, "name": "T4"}]), gpu=[
        {"time_ns": S, "gpu": 0, "power_w": 70.5, "memory_used_bytes": 5_000_000, "temperature_c": 60.0}
    ])  # fmt: skip

    text = " ".join(Elements(page_of(run)).text.split())

    assert "gpu 0, name T4, utilisation mean not measured, memory peak 5 MB" in text
    assert "power mean 70.5 W, temperature peak 60 °C" in text


def test_columns_of_which_nothing_is_known_are_left_out(tmp_path: Path) -> None:
    """No layer and no direction, in a trace without them."""
    run = trained(tmp_path / "r", **window([{"op": "gemm", "category": "matmul", "ms": 5}]))
    text = page_of(run)
    assert "<th>operator</th><th>category</th>" in text
    assert "<th>layer</th>" not in text


def test_an_empty_section_is_one_line_with_its_reason(tmp_path: Path) -> None:
    """Of a trace of somebody else's."""
    told = manifest(state="imported", process={"pid": None, "exit_code": None, "signal": None, "wall_ns": S})
    kernels = window([{"op": "gemm", "category": "matmul", "ms": 5}])
    text = run_page.make(make(tmp_path / "r", told, **kernels), None, "it is imported.")
    shown = " ".join(Elements(text).text.split())
    assert (
        "phases, steps, lines, sampled stacks, CPU of the process tree, CPU of other processes, memory, cores, "
        "samples of the GPU: the imported files hold none" in shown
    )
    assert 'id="machine"' not in text
    assert 'id="steps"' not in text


def test_phases_without_time_are_left_out(tmp_path: Path) -> None:
    """0 s of teardown."""
    run = trained(tmp_path / "r", phases=phases(startup=2, fit_steps=8, teardown=0))
    text = page_of(run)
    assert 'data-phase="fit.steps"' in text
    assert 'data-phase="teardown"' not in text


def test_a_finding_says_what_it_saves_and_what_to_do(tmp_path: Path) -> None:
    """Its title is large; its slug is small print."""
    diagnosis = Diagnosis((FINDING,), (), 10 * S)
    text = run_page.make(trained(tmp_path / "r"), diagnosis)
    shown = " ".join(Elements(text).text.split())
    assert "saves up to 5.00 s 50 % of the wall time" in shown
    assert "what to do Load less." in shown
    assert '<p class="small">input-bound' in text


@pytest.mark.parametrize(
    ("confidence", "told"),
    [
        (0.8, "Load less. (confidence 80 %; nine in ten like it cost 1.00 s to 8.00 s)"),
        (0.4, "Load less. (confidence 40 %)"),
    ],
)
def test_a_finding_of_one_run_says_what_causes_like_it_cost(confidence: float, told: str, tmp_path: Path) -> None:
    """False before: it stood there as an interval over runs. Of a question nothing is said."""
    finding = replace(FINDING, confidence=confidence, interval_ns=(S, 8 * S))
    text = run_page.make(trained(tmp_path / "r"), Diagnosis((finding,), (), 10 * S))
    shown = " ".join(Elements(text).text.split())

    assert told in shown
    assert "95 % 1.00 s to 8.00 s" not in shown


FINDING = Finding(
    slug="input-bound",
    claim="Input takes 5 s.",
    at_stake_ns=5 * S,
    share=0.5,
    interval_ns=None,
    basis=Basis.MEASURED,
    file=None,
    line=None,
    evidence=(),
    next_step="Load less.",
)


def test_a_device_is_shown_busy_and_idle(tmp_path: Path) -> None:
    """Ten kernels of 5 ms, one every 20 ms, in a window of 200 ms."""
    kernels = window([{"op": "gemm", "category": "matmul", "kind": "kernel", "device": 0, "ms": 5}])
    text = page_of(trained(tmp_path / "r", **kernels))
    shown = " ".join(Elements(text).text.split())
    assert "gpu:0 busy25.0 %" in shown
    assert 'aria-label="gpu:0: kernels computed 25.0 %, only collectives or copies 0.0 %, idle 75.0 %"' in text
