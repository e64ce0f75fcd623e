"""`dlprof help`: commands, topics and findings."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported when it runs: --help stays fast
    from dlprof.cli.parser import Parser

EXAMPLES = """\
examples:
  dlprof help                    commands and topics
  dlprof help trace              as `dlprof trace --help`
  dlprof help backends install
  dlprof help bench              a command, and below it the topic of the same name
  dlprof help exit-codes         a topic
  dlprof help input-bound        a finding: what it means, and what to do
  dlprof help --man > dlprof.1   the man page, with all commands"""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    words: Sequence[str]
    man: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the words."""
    parser.add_argument(
        "words", nargs="*", metavar="WORD", help="a command, with a subcommand of it, a topic, or a finding"
    )
    parser.add_argument("--man", action="store_true", help="print the man page, for man(1)")


def run(args: Arguments) -> int:
    """Print the help."""
    from dlprof.cli import COMMANDS, make_parser
    from dlprof.cli.topics import TOPICS

    name = args.words[0] if args.words else None
    if args.man:
        _manual(args.words)
    elif name in COMMANDS:
        _of_command(make_parser(name).subcommands()[name], args.words[1:]).print_help()
        if name in TOPICS and len(args.words) == 1:
            print()
            _show(name)
    elif name in TOPICS:
        _show(name)
    elif name is None:
        print(make_parser().format_help() + _topics())
    else:
        _explain(name, [*COMMANDS, *TOPICS])
    return 0


def _explain(name: str, others: Sequence[str]) -> None:
    """Print what a finding means; what is none is refused with the nearest word."""
    from dlprof.cli import finding_help
    from dlprof.errors import UsageError, nearest

    known = finding_help.titles()
    if name not in known:
        near = nearest(name, [*others, *known])
        raise UsageError(f"There is no command, topic or finding {name}.", hint="dlprof help", near=near)
    finding_help.show(name, file=sys.stdout)


def _manual(words: Sequence[str]) -> None:
    """Print the man page: there is one for all commands."""
    from dlprof.cli import manual
    from dlprof.errors import UsageError

    if words:
        raise UsageError("There is one man page, of all commands.", hint="dlprof help --man")
    print(manual.page(), end="")


def _of_command(parser: Parser, words: Sequence[str]) -> Parser:
    """The parser of a subcommand, where one is named."""
    inner = parser.subcommands()
    return inner.get(words[0], parser) if words else parser


def _show(name: str) -> None:
    """Print a topic: rendered on a terminal, else as the Markdown that it is."""
    from dlprof import color
    from dlprof.cli import topics

    if color.wanted(sys.stdout):
        from rich.markdown import Markdown

        from dlprof.report.console import make_console

        make_console(sys.stdout).print(Markdown(topics.text(name), hyperlinks=False))
    else:
        print(topics.text(name))


def _topics() -> str:
    from dlprof.cli.topics import TOPICS

    width = max(map(len, TOPICS))
    lines = [f"  {name:<{width}}  {topic.about}" for name, topic in TOPICS.items()]
    return "\n".join(["", "topics:", *lines, "", "`dlprof help FINDING`, such as input-bound, tells what it means."])
