"""Every foreign trace that tests have, through every command that looks at a run.

With DLPROF_SHARED_TRACES, a folder of more traces, these go through all of them as well.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from dlprof.errors import DlprofError
from dlprof.export.formats import FORMATS
from dlprof.pipeline import importing
from dlprof.pipeline.opening import open_run
from dlprof.report.html.files import write
from dlprof.store.run import Run
from tests.unit.ingest.imports import DATA
from tests.unit.published import problems
from tests.unit.runs import dlprof

MORE = os.environ.get("DLPROF_SHARED_TRACES")
NO_TRACES = {".md", ".tsv"}
SMALL = 4_000
"""Files of more bytes take a good part of a second with each command."""
REFUSED = {64, 66}
"""Exit codes of what a user may have meant otherwise, and of data that are not there."""
NO_EVENTS = ("its files hold sums without times", "its files hold no event that takes time")
NO_WALL_CLOCK = "it is not known when it was"
NO_LINES, NO_STACKS, NO_TIMES = "has no times of lines", "has no sampled stacks", "has nothing with a time in it"
NEITHER = "has neither sampled stacks nor phases"
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("report", "RUN"),
    ("report", "RUN", "--json"),
    ("diagnose", "RUN"),
    ("diagnose", "RUN", "--json"),
    ("compare", "RUN", "RUN"),
    ("compare", "RUN", "AGAIN", "--json"),
    ("gate", "RUN", "AGAIN"),
    ("lines", "RUN"),
    ("kernels", "RUN"),
    *(("export", "RUN", "--to", name, "-o", "OUT") for name in FORMATS),
)


def trace_files() -> Iterator[Path]:
    """Every trace of the tests, and of the folder that the environment names."""
    yield from (path for path in sorted(DATA.iterdir()) if path.suffix not in NO_TRACES)
    if MORE:
        folder = Path(MORE)
        others = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.parent != folder)
        yield from (path for path in others if path.suffix not in NO_TRACES)


def _parameter(path: Path) -> object:
    is_slow = path.stat().st_size > SMALL or not path.is_relative_to(DATA)
    return pytest.param(path, id=path.name, marks=[pytest.mark.slow] if is_slow else [])


@pytest.fixture(scope="module", params=[_parameter(path) for path in trace_files()])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that is made of one file; beside it lies a second one of the same file, `again`."""
    path = tmp_path_factory.mktemp("traces") / "run"
    try:
        importing.import_files([request.param], path, reader=None, report=lambda _line: None)
    except DlprofError as error:
        pytest.skip(f"nothing in it can be read: {error.message}")
    shutil.copytree(path, path.with_name("again"))
    return open_run(str(path))


def _may_say(run: Run, command: tuple[str, ...]) -> tuple[str, ...]:
    """What a command may refuse a run with, by what the run holds."""
    if command[0] in ("diagnose", "compare", "gate"):
        return NO_EVENTS if run.wall_ns is None else ()
    target = command[3] if command[0] == "export" else ""
    if target in ("speedscope", "pprof") and not run.count("stacks"):
        return (NO_STACKS,) if target == "pprof" else () if run.count("phases") else (NEITHER,)
    if target == "line_profiler" and not run.count("lines"):
        return (NO_LINES,)
    if target == "otlp" and run.manifest.clock.origin_wall_ns is None:
        return (NO_WALL_CLOCK,)
    timed = any(run.count(name) for name in ("kernel_events", "stacks", "gpu"))
    return (NO_TIMES,) if target in ("perfetto", "chrome") and not timed else ()


@pytest.mark.parametrize("command", [pytest.param(one, id=" ".join(one)) for one in COMMANDS])
def test_a_command_answers_or_says_what_is_missing(
    run: Run, command: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ends well, or it names what this trace does not hold."""
    names = {"RUN": run.folder.path, "AGAIN": run.folder.path.with_name("again"), "OUT": tmp_path / "out"}
    code = dlprof(*(names.get(word, word) for word in command))

    said = capsys.readouterr()
    may_say = _may_say(run, command)
    assert (code in REFUSED) == bool(may_say), said.err
    assert code == 0 or any(text in said.err for text in may_say), said.err
    if "--json" in command and code == 0:
        told = json.loads(said.out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
        assert problems(command[0], told) == []


def test_no_rule_fails(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """A rule that lacks its signal says which; it does not break."""
    if run.wall_ns is None:
        pytest.skip("it has no times")
    assert dlprof("diagnose", run.folder.path, "--evidence") == 0

    said = capsys.readouterr().out
    assert "a bug in its rule" not in said
    assert "the query failed" not in said


def test_a_page_is_made(run: Run, tmp_path: Path) -> None:
    """With the answer on it."""
    from dlprof.cli import view

    path = Path(write(view.run_page(str(run.folder.path), rebuild=False), tmp_path / "page.html"))

    assert "</html>" in path.read_text(encoding="utf-8")


def test_the_tree_sums_to_the_trace(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """Leaves, phases, and what was not traced of the main process."""
    assert dlprof("report", run.folder.path, "--json") == 0

    report = json.loads(capsys.readouterr().out)
    assert report["verdict"]
    assert (report["tree"] is None) == (run.wall_ns is None)
    in_tree = sum(leaf["ns"] for leaf in report["tree"] or ())
    in_phases = sum(phase["dur_ns"] for phase in report["phases"] if phase["parent"] is None)
    assert in_tree == (in_phases if report["phases"] else run.wall_ns or 0)
    assert in_phases + (report["unattributed_ns"] or 0) == (run.wall_ns or 0)
