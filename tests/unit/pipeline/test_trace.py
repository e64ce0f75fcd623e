"""What is done before a script starts, and after its run is stored."""

from __future__ import annotations

import gzip
import io
import time
from pathlib import Path
from typing import Any, NoReturn

import pytest

from dlprof import config
from dlprof.errors import UsageError
from dlprof.launch import target
from dlprof.launch.process import Outcome
from dlprof.live import status_line
from dlprof.pipeline import trace
from tests.unit.runs import trained

OUTCOME = Outcome(0, None, 0, 1, 0, 0, 0, {}, killed=False)


def test_what_is_done_meanwhile_is_over_before_the_script_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though it takes longer than finding the interpreter."""
    done: list[str] = []

    def found(_config: Any, **_how: Any) -> NoReturn:
        done.append("found")
        raise UsageError("There is no such backend.")

    def slow() -> None:
        time.sleep(0.05)
        done.append("meanwhile")

    monkeypatch.setattr(target, "resolve", found)
    settings = config.load({"script": "train.py"}, {}, tmp_path)
    with pytest.raises(UsageError):
        trace.trace(settings, report=print, view=status_line.for_terminal(settings, io.StringIO()), meanwhile=slow)

    assert done == ["found", "meanwhile"]


def test_artifacts_of_some_size_are_packed(tmp_path: Path) -> None:
    """Stacks and traces in JSON; other files stay as they are."""
    run = trained(tmp_path / "r")
    window = run.folder.raw / "kernels" / "window-000"
    window.mkdir(parents=True)
    (window / "trace.json").write_text("[1]")
    (window / "other.bin").write_bytes(b"x")

    trace.pack(trace.Traced(OUTCOME, run))

    assert sorted(file.name for file in window.iterdir()) == ["other.bin", "trace.json.gz"]
    assert gzip.decompress((window / "trace.json.gz").read_bytes()) == b"[1]"


def test_a_run_that_was_not_stored_keeps_its_artifacts_as_they_are() -> None:
    """There is nothing to pack that is known to be readable."""
    trace.pack(trace.Traced(OUTCOME, None))


@pytest.mark.parametrize(
    ("keep", "argv", "masked"), [(False, ("--token", "***"), True), (True, ("--token", "a1b2"), False)]
)
def test_a_secret_in_the_arguments_is_not_written_down(keep: bool, argv: tuple[str, ...], masked: bool) -> None:
    """Unless the user wants it so; then the command can be run again."""
    settings = config.load({"script": "t.py", "arguments": ("--token", "a1b2"), "keep_arguments": keep}, {}, Path())

    command = trace._command(settings)

    assert (command.argv, command.masked) == (argv, masked)
