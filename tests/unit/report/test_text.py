"""The report of a run on a terminal."""

from __future__ import annotations

import io
import itertools
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import diagnose
from dlprof.report import text
from dlprof.report.section_names import SECTIONS
from dlprof.store.run import Run
from tests.unit.runs import MS, S, make, manifest, trained, window

ASYNCHRONOUS = {"name": "x", "source": "managed", "asynchronous_dispatch": True, "input_inside_step": False}


def printed(run: Run, **how: Any) -> str:
    """The text of the report."""
    out = io.StringIO()
    text.print_report(run, file=out, **how)
    return out.getvalue()


def titles(text_: str) -> list[str]:
    """The first words of lines that are not indented and follow an empty one."""
    lines = text_.splitlines()
    return [line.split("  ")[0].rstrip() for before, line in itertools.pairwise(lines) if not before.strip() and line]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A run with hostile names, of which cores and GPUs were not measured."""
    line = {"file": "a.py", "function": "f", "first_line": 1, "line": 2, "hits": 4, "time_ns": 500 * MS}
    return trained(
        tmp_path / "r",
        manifest(backend=ASYNCHRONOUS),
        lines=[{**line, "source": "x = [red] \x1b[31mred"}],
        probes=[
            {"name": "gpu", "state": "unavailable", "reason": "no driver"},
            {"name": "cores", "state": "failed", "reason": "killed"},
        ],
    )


@pytest.mark.parametrize("plain", [True, False])
def test_the_text_says_what_was_not_measured_and_why(run: Run, plain: bool) -> None:
    """And never 0 in its place."""
    content = printed(run, plain=plain)

    assert "not measured, because no driver" in content
    assert "not measured, because killed" in content
    assert "not measured, because nothing was recorded" in content  # stacks
    assert "dispatch only" in content


@pytest.mark.parametrize("plain", [True, False])
def test_nothing_in_a_run_steers_the_terminal(run: Run, plain: bool) -> None:
    """Markup is text, and control characters are replaced."""
    content = printed(run, plain=plain)

    assert "\x1b" not in content
    assert "x = [red]" in content


def test_plain_text_is_ascii_but_for_what_the_run_says(run: Run) -> None:
    """Bars, too."""
    assert printed(run, plain=True).replace("\N{REPLACEMENT CHARACTER}", "").isascii()


def test_sections_come_in_their_order(run: Run) -> None:
    """Those that every run has."""
    assert titles(printed(run))[2:] == [
        "Findings",
        "Phases",
        "Steps",
        "Hottest lines",
        "Hottest stacks by phase",
        "Cores and memory",
        "GPU",
        "Memory",
        "Overhead ledger",
        "Health",
        f"more: dlprof lines {run.typed}",
    ]


def test_the_answer_is_short_and_names_what_to_type_next(run: Run) -> None:
    """In place of all sections."""
    out = io.StringIO()
    text.print_answer(run, file=out)
    content = out.getvalue()

    assert len(content.splitlines()) <= 25
    assert "Phases   fit 6.00 s (60 %" in content
    assert "dlprof report" in content.splitlines()[-2]
    assert "Overhead ledger" not in content


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_can_be_printed_by_itself(run: Run, name: str) -> None:
    """It says something, be it why it has nothing."""
    out = io.StringIO()
    text.print_sections(run, [name], file=out)

    assert len([line for line in out.getvalue().splitlines() if line.strip()]) >= 2


def test_sections_come_in_the_order_in_which_they_were_named(run: Run) -> None:
    """And no others."""
    out = io.StringIO()
    text.print_sections(run, ["health", "phases"], file=out)

    assert [line for line in titles("\n" + out.getvalue()) if line in ("Health", "Phases", "Steps")] == [
        "Health",
        "Phases",
    ]


def test_causes_are_only_looked_for_where_they_are_shown(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """They take a while."""
    monkeypatch.setattr(diagnose, "brief", lambda _run: pytest.fail("asked"))

    text.print_sections(run, ["phases", "steps", "machine"], file=io.StringIO())


def test_of_foreign_traces_only_what_is_in_them_is_shown(tmp_path: Path) -> None:
    """Nothing is said to be missing: it was never there."""
    sources = [{"file": "a.json", "format": "kineto", "events": 7}]
    stacks = [{"thread_id": 1, "thread": "worker", "start_ns": 0, "dur_ns": S, "stack_id": 0}]
    frames = [{"stack_id": 0, "depth": 0, "function": "f", "file": "a.py", "line": 1}]
    kernels = window([{"op": "MatMul", "category": "matmul", "ms": 5}])
    run = make(tmp_path / "r", manifest(state="imported"), sources=sources, stacks=stacks, frames=frames, **kernels)

    content = printed(run)

    assert titles(content)[2:] == [
        "Sources",
        "Kernels",
        "Hottest stacks by phase",
        "Health",
        f"more: dlprof lines {run.typed}",
    ]
    assert "No GPU is in the trace: operators ran in 25 % of the 200 ms that were traced (of 10.0 s from" in " ".join(
        content.split()
    )
    assert "thread worker" in content
