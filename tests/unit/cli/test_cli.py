"""The command line as a whole."""

from __future__ import annotations

import pytest

from dlprof import __version__, cli
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
        (["gate"], "the following arguments are required: BASE"),
        (["report", "last", "--nonsense"], "unrecognized arguments: --nonsense"),
    ],
)
def test_a_wrong_command_line_ends_with_64(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """And says what is wrong in one line."""
    with pytest.raises(SystemExit) as ended:
        cli.parse(words)

    (said,) = (line for line in capsys.readouterr().err.splitlines() if ": error: " in line)
    assert ended.value.code == 64
    assert said.endswith(message)


def test_where_words_are_missing_the_help_with_its_examples_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Usage alone does not say what MATRIX.toml is."""
    with pytest.raises(SystemExit):
        cli.parse(["history", "."])

    assert capsys.readouterr().err.splitlines()[-1] == "  try: dlprof history --help    (examples are at its end)"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["train.py", "--epochs", "3"], "dlprof trace train.py -- --epochs 3 "),
        (["train.py", "--repeat", "3", "--epochs", "3"], "dlprof trace train.py --repeat 3 -- --epochs 3 "),
        (["train.py", "--lr=1", "a b", "--", "x"], "dlprof trace train.py -- --lr=1 'a b' x "),
    ],
)
def test_arguments_of_a_script_are_told_where_they_belong(
    words: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With trace's own usage, and the line to type."""
    with pytest.raises(SystemExit) as ended:
        cli.parse(["trace", *words])

    said = capsys.readouterr().err.splitlines()
    assert ended.value.code == 64
    assert said[0] == "usage: dlprof trace SCRIPT [options] [-- script arguments]"
    assert said[-1] == f"  try: {line}   (the script's own arguments come after --)"


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"]])
def test_no_words_ask_for_help(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """On standard output, with the examples, and with exit code 0."""
    with pytest.raises(SystemExit) as ended:
        cli.parse(words)

    assert ended.value.code == 0
    assert "  dlprof trace train.py   " in capsys.readouterr().out


@pytest.mark.parametrize("word", ["-V", "--version"])
def test_the_version_is_a_line(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    """On standard output."""
    with pytest.raises(SystemExit) as ended:
        cli.parse([word])

    assert ended.value.code == 0
    assert capsys.readouterr().out == f"dlprof {__version__}\n"


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
