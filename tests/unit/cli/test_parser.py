"""The parser of every command."""

from __future__ import annotations

import io

import pytest

from dlprof import cli, color
from dlprof.cli import backends, compare, kernels, sql, view
from tests.unit.runs import dlprof


@pytest.fixture(autouse=True)
def colour(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test chooses is taken back."""
    monkeypatch.setattr(color, "_chosen", "auto")


@pytest.mark.parametrize(
    "words", [["--top", "3", "A", "B"], ["A", "--top", "3", "B"], ["A", "B", "--top", "3"], ["A", "--top=3", "B"]]
)
def test_options_stand_before_between_and_behind(words: list[str]) -> None:
    """The other words are the same."""
    _, args = cli.parse(["compare", *words])

    assert isinstance(args, compare.Arguments)
    assert (list(args.runs), args.top) == (["A", "B"], 3)


def test_options_stand_between_words_that_may_be_left_out() -> None:
    """Such as the query of `sql`."""
    _, args = cli.parse(["sql", "last", "--format", "csv", "SELECT 1"])

    assert args == sql.Arguments(run="last", query="SELECT 1", format="csv")


def test_options_stand_between_the_words_of_a_subcommand() -> None:
    """Too."""
    _, args = cli.parse(["backends", "install", "mxnet", "--json", "jax"])

    assert args == backends.Arguments(action="install", json=True, names=["mxnet", "jax"])


@pytest.mark.parametrize(
    ("command", "field"), [("lines", "run"), ("kernels", "run"), ("sql", "run"), ("export", "run")]
)
def test_a_run_that_is_not_named_is_the_last(command: str, field: str) -> None:
    """Where a command looks at one."""
    _, args = cli.parse([command, *(["--to", "json"] if command == "export" else [])])

    assert getattr(args, field) == "last"


@pytest.mark.parametrize("command", ["view", "diagnose"])
def test_runs_that_are_not_named_are_the_last(command: str) -> None:
    """Where a command looks at one or two."""
    _, args = cli.parse([command])

    assert tuple(args.runs) == ("last",)


def test_a_page_goes_where_it_is_told_between_two_runs() -> None:
    """As `view A -o x.html B`."""
    _, args = cli.parse(["view", "A", "-o", "x.html", "B"])

    assert isinstance(args, view.Arguments)
    assert (list(args.runs), args.output) == (["A", "B"], "x.html")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["kernels", "--by", "layr"], "--by cannot be layr; did you mean layer? (one of kernel, op, layer,"),
        (["kernels", "--tpo", "3"], "unrecognized arguments: --tpo; did you mean --top?"),
        (["kernels", "--xyzzy=3"], "unrecognized arguments: --xyzzy=3\n"),
        (["backends", "instal", "x"], "cannot be instal; did you mean install? (one of list, install, remove, path)"),
    ],
)
def test_the_nearest_right_word_is_suggested(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Of choices and of options, where one is near."""
    with pytest.raises(SystemExit) as ended:
        cli.parse(words)

    assert ended.value.code == 64
    assert said in capsys.readouterr().err


def test_a_part_of_an_option_is_not_that_option(capsys: pytest.CaptureFixture[str]) -> None:
    """It might be the script's, and might mean another one tomorrow."""
    with pytest.raises(SystemExit):
        cli.parse(["trace", "train.py", "--line", "x"])

    assert "unrecognized arguments: --line x" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["--color", "never", "kernels"], ["kernels", "--color", "never"], ["kernels", "--color=never", "r"]]
)
def test_colour_is_chosen_before_or_behind_the_command(words: list[str]) -> None:
    """It holds for all that is printed, and is no argument of the command."""
    _, args = cli.parse(words)

    assert isinstance(args, kernels.Arguments)
    assert not color.wanted(io.StringIO(), {"FORCE_COLOR": "1"})


def test_a_colour_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """With those there are."""
    with pytest.raises(SystemExit):
        dlprof("report", "--color", "allways")

    assert "--color cannot be allways; did you mean always? (one of auto, always, never)" in capsys.readouterr().err
