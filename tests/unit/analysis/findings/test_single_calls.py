"""Calls of a model that a script makes very often for a moment each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.diagnose import diagnose
from dlprof.analysis.findings.finding import Finding
from tests.unit import runs
from tests.unit.analysis.findings.cases import Call, keep_source, on, parts, quiet, sampled
from tests.unit.runs import S

MODULE: list[Call] = [("_call_impl", "torch/nn/modules/module.py", 9), ("linear", "torch/nn/modules/linear.py", 3)]
ROWS = "for row in rows:\n    found[int(net(row))] += 1\n"
GAME = "for turn in range(9):\n    state = step(state, int(net(state)))\n"
STREAM = "while True:\n    row = camera()\n    kept.append(net(row))\n"


def scored(
    folder: Path,
    source: str,
    *,
    asked: int = 0,
    hits: int | None = None,
    how: str = "exact",
    seconds: float = 4,
    below: list[Call] = MODULE,
    backend: str = "torch",
    **more: Any,
) -> list[Finding]:
    """What is said of 6 s of a script that calls a model in the last line of a loop, asks for so many values there."""
    line = len(source.splitlines())
    row = {"file": "train.py", "function": "f", "first_line": 1, "line": line, "hits": hits, "time_ns": S, "how": how}
    value = {"what": "int()", "file": "train.py", "line": line, "calls": asked, "dur_ns": S}
    stood = sampled(
        (1, 1 + seconds, [("<module>", "train.py", line), *below]), (1 + seconds, 7, [("<module>", "train.py", 9)])
    )
    tables = quiet(
        phases=parts(import_=1, script=6, teardown=3),
        phase_intervals=runs.intervals(("import", 0, 1), ("script", 1, 7), ("teardown", 7, 10)),
        steps=[],
        lines=[row],
        syncs=[{**value, "start_ns": S, "end_ns": 5 * S}] if asked else [],
        **stood,
        **more,
    )
    run = runs.trained(folder / "r", on(backend), **tables)
    keep_source(run, source)
    return [one for one in diagnose(run).findings if one.slug == "dispatch-bound"]


def test_rows_that_are_there_already_are_to_be_given_at_once(tmp_path: Path) -> None:
    """20,000 calls in 4 s: nine tenths are saved."""
    (finding,) = scored(tmp_path, ROWS, asked=20_000)

    assert finding.claim.startswith("Line 2 calls a model 20,000 times, for 200 µs each: 3.60 s")
    assert (finding.line, finding.at_stake_ns, finding.is_question) == (2, 3_600_000_000, False)


@pytest.mark.parametrize("source", [GAME, STREAM], ids=["a game", "a stream"])
def test_rows_that_may_come_one_by_one_are_asked_about(source: str, tmp_path: Path) -> None:
    """The next one needs the answer; or nobody has it yet."""
    (finding,) = scored(tmp_path, source, asked=20_000)

    assert finding.is_question


def test_longer_calls_may_compute(tmp_path: Path) -> None:
    """4,000 calls of a millisecond: a question, and less is at stake."""
    (finding,) = scored(tmp_path, ROWS, asked=4_000)

    assert (finding.is_question, finding.at_stake_ns) == (True, 2_400_000_000)


def test_how_often_a_line_ran_may_be_an_estimate(tmp_path: Path) -> None:
    """Nothing is asked for there, and its hits were scaled."""
    (finding,) = scored(tmp_path, ROWS, hits=20_000, how="scaled")

    assert "calls a model about 20,000 times, for about 200 µs each" in finding.claim


@pytest.mark.parametrize(
    ("asked", "seconds", "below"),
    [
        (0, 4.0, MODULE),
        (200, 4.0, MODULE),
        (1_500, 4.0, MODULE),
        (20_000, 0.5, MODULE),
        (20_000, 4.0, []),
        (20_000, 4.0, [("loads", "<python>/json/decoder.py", 3)]),
    ],
    ids=["not counted", "few", "long", "little time", "no call is seen", "no model"],
)
def test_other_calls_are_none(asked: int, seconds: float, below: list[Call], tmp_path: Path) -> None:
    """Few, long, of something else, or nobody knows how many."""
    assert scored(tmp_path, ROWS, asked=asked, seconds=seconds, below=below) == []


def test_a_compiled_function_leaves_no_frame(tmp_path: Path) -> None:
    """Its name in the line tells that it is called there."""
    compiled = '{"compiled": {"function": "net"}}'
    spans = [runs.fit_span(), runs.span("graph_compile", 0.5, 0.6, span_id=7, line=1, detail=compiled)]
    (finding,) = scored(tmp_path, ROWS, asked=20_000, below=[], backend="jax", spans=spans)

    assert "calls a compiled function 20,000 times" in finding.claim
