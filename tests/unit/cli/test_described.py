"""What a parser takes, as texts are made of it."""

from __future__ import annotations

import argparse

import pytest

from dlprof import cli
from dlprof.cli import described


def parser() -> argparse.ArgumentParser:
    """One of each kind of argument."""
    made = argparse.ArgumentParser(prog="tool")
    made.add_argument("run", metavar="RUN", nargs="?", help="what to read")
    made.add_argument("more", metavar="FILE", nargs="*")
    made.add_argument("-o", "--output", metavar="DIR", help="of %(prog)s")
    made.add_argument("--by", choices=("layer", "op"), metavar="WHAT", default="op", help="(default: %(default)s)")
    made.add_argument("--json", action="store_true")
    made.add_argument("--lines", action="append", metavar="WHAT", help="more lines")
    return made


def test_arguments_are_written_as_they_are_typed() -> None:
    """In the order of the parser, without its help."""
    told = [described.invocation(action) for action in described.arguments(parser())]

    assert told == ["[RUN]", "[FILE ...]", "-o, --output DIR", "--by WHAT", "--json", "--lines WHAT"]


def test_what_they_mean_has_its_values_filled_in() -> None:
    """With what they may be, and whether they may come again."""
    made = parser()
    told = {action.dest: described.meaning(made, action) for action in described.arguments(made)}

    assert (told["output"], told["by"], told["lines"]) == (
        "of tool",
        "(default: op); one of layer, op",
        "more lines; may be given again",
    )


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("trace", "dlprof trace SCRIPT [options] [-- script arguments]"),
        ("sql", "dlprof sql"),
        ("completion", "dlprof completion SHELL"),
        ("backends", "dlprof backends list|install|remove|path"),
        ("redact", "dlprof redact [RUN] [options]"),
    ],
)
def test_a_command_is_typed_on_one_line(command: str, expected: str) -> None:
    """As its parser says, where that says it by itself."""
    made = cli.make_parser(command).subcommands()[command]

    assert described.synopsis(made, f"dlprof {command}").startswith(expected)
    assert "\n" not in described.synopsis(made, f"dlprof {command}")
