"""The `dlprof` command: how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof import cli
from dlprof.errors import NoInputError
from tests.unit.runs import dlprof


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let every command fail with this error."""

    def fail(_words: object) -> None:
        raise error

    monkeypatch.setattr(cli, "parse", fail)


def test_an_error_of_dlprofs_own_is_a_sentence_and_a_way_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its own exit code."""
    failing(monkeypatch, NoInputError("There is no run x.", hint="dlprof runs"))

    assert dlprof("report", "x") == 66
    assert capsys.readouterr().err == "dlprof: error: There is no run x.\n  try: dlprof runs\n"


def test_an_interrupt_is_said_by_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """No traceback."""
    failing(monkeypatch, KeyboardInterrupt())

    assert dlprof("report", "x") == 130


def test_a_bug_is_a_line_and_its_traceback_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """In a file that the message names."""
    monkeypatch.delenv("DLPROF_DEBUG", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    failing(monkeypatch, ZeroDivisionError("by 0"))

    assert dlprof("report", "x") == 70
    said = capsys.readouterr().err
    (kept,) = tmp_path.iterdir()
    assert said.startswith("dlprof: internal error: ZeroDivisionError: by 0\n")
    assert str(kept) in said
    assert "ZeroDivisionError: by 0" in kept.read_text()


def test_a_bug_is_a_traceback_where_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By DLPROF_DEBUG."""
    monkeypatch.setenv("DLPROF_DEBUG", "1")
    failing(monkeypatch, ZeroDivisionError("by 0"))

    assert dlprof("report", "x") == 70
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as `dlprof … | head`."""
    failing(monkeypatch, BrokenPipeError())
    closed: list[int] = []
    monkeypatch.setattr("os.dup2", lambda _new, old: closed.append(old))

    class Output:
        def fileno(self) -> int:
            return 7

    monkeypatch.setattr("sys.stdout", Output())

    assert (dlprof("report", "x"), closed) == (0, [7])
