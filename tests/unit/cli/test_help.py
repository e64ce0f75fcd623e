"""`dlprof help`."""

from __future__ import annotations

import pytest

from dlprof import cli
from dlprof.cli import topics
from dlprof.cli.topics import TOPICS
from tests.unit.runs import dlprof


def test_without_a_word_commands_and_topics_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """On standard output."""
    assert dlprof("help") == 0

    words = {line.split()[0] for line in capsys.readouterr().out.splitlines() if line.startswith("  ")}
    assert {*cli.COMMANDS, *TOPICS} <= words


def test_a_command_is_explained_as_by_its_own_flag(capsys: pytest.CaptureFixture[str]) -> None:
    """Word for word."""
    assert dlprof("help", "lines") == 0
    told = capsys.readouterr().out
    with pytest.raises(SystemExit):
        dlprof("lines", "--help")

    assert told == capsys.readouterr().out


@pytest.mark.parametrize("name", sorted({*cli.COMMANDS} & {*TOPICS}))
def test_the_topic_of_a_commands_name_follows_its_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither hides the other."""
    assert dlprof("help", name) == 0

    told = capsys.readouterr().out
    assert told.startswith(f"usage: dlprof {name} ")
    assert told.endswith(f"\n\n{topics.text(name)}\n")


def test_a_subcommand_is_explained_too(capsys: pytest.CaptureFixture[str]) -> None:
    """By its own usage."""
    assert dlprof("help", "backends", "install") == 0

    assert capsys.readouterr().out.startswith("usage: dlprof backends install ")


def test_a_topic_is_printed_as_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    """Where no terminal renders it."""
    assert dlprof("help", "exit-codes") == 0

    out = capsys.readouterr().out
    assert out.startswith("# Exit codes\n")
    assert "| 64 | the command line, a setting or an SQL query cannot be understood |" in out


def test_a_topic_is_rendered_where_colour_is_wanted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No Markdown is left of it."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert dlprof("help", "exit-codes") == 0

    out = capsys.readouterr().out
    assert "\x1b[" in out
    assert "| --- |" not in out


def test_a_word_that_is_neither_is_refused_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    """And with what lists them."""
    assert dlprof("help", "exit-code") == 64

    said = capsys.readouterr().err
    assert (
        said == "dlprof: error: There is no command, topic or finding exit-code; did you mean exit-codes?\n"
        "  try: dlprof help\n"
    )


def test_a_finding_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    """What it means, what to do, and what tells more."""
    assert dlprof("help", "import-heavy") == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("import-heavy: ")
    assert lines[2].startswith("Signal: ")
    assert "What to do  (… stands for what the run tells)" in lines
    assert lines[-1] == "more: dlprof help findings   dlprof diagnose RUN --evidence   dlprof help comparing"


def test_a_finding_that_was_mistyped_is_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    """As commands and topics are."""
    assert dlprof("help", "inputbound") == 64

    assert "did you mean input-bound?" in capsys.readouterr().err
