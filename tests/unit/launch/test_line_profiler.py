"""A line_profiler for interpreters of the user's own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dlprof.launch import uvtool
from dlprof.launch.interpreters import InterpreterFacts
from dlprof.launch.line_profiler import line_profiler_for


@pytest.mark.parametrize(("version", "own"), [("5.0.2", True), ("5.1.0", True), ("4.1.3", False), (None, False)])
def test_a_line_profiler_is_fetched_where_it_is_missing_or_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str | None, own: bool
) -> None:
    """For the interpreter that is asked about; never into it, and once."""
    calls: list[list[str]] = []

    def run(arguments: list[str], **_options: object) -> None:
        calls.append(arguments)
        Path(arguments[arguments.index("--target") + 1]).mkdir()

    monkeypatch.setenv("DLPROF_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(uvtool, "run", run)
    facts = InterpreterFacts(
        Path(sys.executable), (3, 11, 7), "cpython", "linux-x86_64", sys.prefix, {"line_profiler": version}
    )

    folders = {line_profiler_for(facts, report=lambda _line: None) for _ in range(2)}

    (folder,) = folders
    assert (folder is None) is own
    assert len(calls) == (0 if own else 1)
    if folder is not None:
        assert calls[0][calls[0].index("--target") + 1] == str(folder)
