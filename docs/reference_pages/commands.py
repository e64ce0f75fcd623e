"""Every command, from the definitions that parse it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from dlprof import cli
from dlprof.cli.command import load
from dlprof.cli.described import arguments, invocation, meaning, subcommands
from dlprof.cli.parser import Parser
from reference_pages import markdown as md

_WIDTH = 100
_ABOUT = """\
`dlprof help COMMAND` says the same on the terminal, `dlprof help` lists commands and topics, `dlprof -V` gives the
version. Options may stand before, between and behind the other words. A RUN that is not named is `last`; `last~1` is
the run before it."""
_COLOR = """\
All commands take `--color WHEN`: `auto` (at a terminal that wants it), `always` or `never`. With `auto`, `NO_COLOR`
(not empty) and `TERM=dumb` switch colours off, `FORCE_COLOR` and `CLICOLOR_FORCE` on, also where output is no
terminal; `NO_COLOR` stands above these."""


def parser(name: str) -> argparse.ArgumentParser:
    """The parser of a command, without those of the others."""
    command = load(name)
    made = Parser(prog=f"dlprof {name}", epilog=command.EXAMPLES, formatter_class=_formatter)
    command.configure(made)
    return made


def _formatter(prog: str) -> argparse.HelpFormatter:
    return argparse.HelpFormatter(prog, width=_WIDTH)


def page() -> str:
    """The page."""
    names = [(f"[{name}](#dlprof-{name})", md.prose(summary)) for name, summary in cli.COMMANDS.items()]
    parts = [
        _ABOUT,
        _COLOR,
        md.table(("command", "what it does"), names),
    ]
    for name, summary in cli.COMMANDS.items():
        made = parser(name)
        parts += [f"## dlprof {name}", md.prose(cli.as_sentence(summary)), *_described(made)]
        for sub, of_sub in subcommands(made).items():
            of_sub.formatter_class = _formatter
            parts += [f"### dlprof {name} {sub}", *_described(of_sub)]
        parts.append(md.block(made.epilog or ""))
    return md.page("Commands", *parts)


def _described(made: argparse.ArgumentParser) -> Iterator[str]:
    """Usage and arguments."""
    yield md.block(made.format_usage().removeprefix("usage: ").replace("\n       ", "\n"))
    rows = [(md.code(invocation(action)), md.prose(meaning(made, action))) for action in arguments(made)]
    if rows:
        yield md.table(("argument", "means"), rows)
