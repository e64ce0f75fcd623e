"""The command line as a whole."""

from __future__ import annotations

import pytest

from dlprof import cli
from dlprof.cli import trace
from dlprof.cli.report import Arguments


def test_words_become_the_arguments_of_their_command() -> None:
    """As one typed object."""
    _, args = cli.parse(["report", "last", "--top", "3", "--plain"])

    assert args == Arguments(words=["last"], full=False, json=False, html=None, top=3, plain=True, rebuild=False)


def test_what_comes_after_two_dashes_is_the_scripts() -> None:
    """Also what looks like a flag of dlprof."""
    _, args = cli.parse(["trace", "train.py", "--repeat", "2", "--", "--repeat", "9", "--", "x"])

    assert isinstance(args, trace.Arguments)
    assert (args.script, args.repeat, args.script_arguments) == ("train.py", 2, ("--repeat", "9", "--", "x"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["reprot", "last"], "there is no command reprot; did you mean report?"),
        (["xyzzy"], "there is no command xyzzy"),
        (["lines"], "the following arguments are required: RUN"),
        (["report", "last", "--nonsense"], "unrecognized arguments: --nonsense"),
    ],
)
def test_a_wrong_command_line_ends_with_64(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """And says what is wrong in one line."""
    with pytest.raises(SystemExit) as ended:
        cli.parse(words)

    assert ended.value.code == 64
    assert capsys.readouterr().err.splitlines()[-1].endswith(message)


def test_flags_of_a_script_are_told_where_they_belong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Behind two dashes."""
    words = ["trace", "train.py", "--epochs", "3"]
    monkeypatch.setattr("sys.argv", ["dlprof", *words])

    with pytest.raises(SystemExit):
        cli.parse(words)

    assert "(the script's own arguments come after --)" in capsys.readouterr().err


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """With what it does."""
    with pytest.raises(SystemExit) as ended:
        cli.parse(["--help"])

    text = capsys.readouterr().out
    assert ended.value.code == 0
    assert [name for name in cli.COMMANDS if f"\n    {name} " not in text] == []


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_help_of_a_command_is_plain_ascii(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It is printed on terminals of any encoding."""
    with pytest.raises(SystemExit) as ended:
        cli.parse([name, "--help"])

    text = capsys.readouterr().out
    assert ended.value.code == 0
    assert cli.as_sentence(cli.COMMANDS[name]) in " ".join(text.split())
    assert text.isascii()


def test_a_summary_becomes_a_sentence() -> None:
    """With a capital and a full stop."""
    assert cli.as_sentence("print it") == "Print it."
