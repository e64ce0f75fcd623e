"""The parser of every command: options stand where they like, and what is wrong is said with the nearest right word."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from dlprof.errors import ExitCode, did_you_mean, nearest

COLORS = ("auto", "always", "never")
"""What `--color` takes."""
_CHOICE = re.compile(
    r"argument (?P<what>.+?): invalid choice: '(?P<word>.*?)' \(choose from (?P<known>.*)\)", re.DOTALL
)

_HARDLY_ANOTHER = 0.8
"""A word as like to an option of ours is that option, though the script may have one that is a little like it."""
_LEAST_LETTERS = 3


class Help(argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of the examples."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32)


class Parser(argparse.ArgumentParser):
    """Takes options before, between and after positionals; ends with dlprof's own exit code where it cannot."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**{"allow_abbrev": False, "formatter_class": Help, **given})
        self.add_argument(
            "--color",
            choices=COLORS,
            default=argparse.SUPPRESS,
            metavar="WHEN",
            help="auto (default: at a terminal that wants colour), always or never",
        )
        self._inner = False

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """As argparse has it, but for options that stand between positionals."""
        if self._subparsers is not None or self._inner:
            return super().parse_known_args(args, namespace)
        self._inner = True  # argparse comes back here for options, and once more for positionals
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._inner = False

    def error(self, message: str) -> NoReturn:
        """Print what is wrong in one line, and end."""
        self.print_usage(sys.stderr)
        print(f"{self.prog}: error: {_with_suggestion(message)}", file=sys.stderr)
        if " are required" in message:
            print(f"  try: {self.prog} --help    (examples are at its end)", file=sys.stderr)
        raise SystemExit(int(ExitCode.USAGE))

    def unknown(self, words: Sequence[str], hint: str | None = None) -> NoReturn:
        """Refuse words that the command does not know.

        Args:
            words: They.
            hint: The line to type instead, where one is known.
        """
        flags = {flag.lstrip("-"): flag for flag in self.flags()}
        typed = (word.partition("=")[0].lstrip("-") for word in words if word.startswith("--"))
        found = (self._short(word) or [flags[name] for name in nearest(word, flags)] for word in typed)
        near = "".join(f"; did you mean {flag}?" for each in found for flag in each)
        self.print_usage(sys.stderr)
        print(f"{self.prog}: error: unrecognized arguments: {' '.join(words)}{near}", file=sys.stderr)
        if hint:
            print(f"  try: {hint}", file=sys.stderr)
        raise SystemExit(int(ExitCode.USAGE))

    def misspelt(self, word: str) -> list[str]:
        """An unknown option as it is spelt right, where it can hardly be another one: `--kernel=all`, `--out`."""
        name, is_given, value = word.partition("=")
        if not name.startswith("--"):
            return []
        long = {flag.lstrip("-"): flag for flag in self.flags() if flag.startswith("--")}
        near = [long[one] for one in get_close_matches(name[2:], long, 1, _HARDLY_ANOTHER)]
        if near:
            return [f"{near[0]}{is_given}{value}"]
        short = self._short(name[2:])
        return [*short, *([value] if short and is_given else [])]

    def _short(self, word: str) -> list[str]:
        """The option that has one letter only, of which this is the long name or a part of it: `-o` of `out`."""
        shorts = {one.dest: one.option_strings[0] for one in self._actions if _is_short(one)}
        return [flag for name, flag in shorts.items() if len(word) >= _LEAST_LETTERS and _begins_alike(word, name)][:1]

    def flags(self) -> Iterable[str]:
        """All options, as they are typed."""
        return tuple(self._option_string_actions)

    def subcommands(self) -> dict[str, Parser]:
        """Subcommands and their parsers."""
        found = (action for action in self._actions if isinstance(action, argparse._SubParsersAction))  # noqa: SLF001
        return dict(next(found).choices) if self._subparsers is not None else {}


def _is_short(action: argparse.Action) -> bool:
    return bool(action.option_strings) and not any(flag.startswith("--") for flag in action.option_strings)


def _begins_alike(word: str, name: str) -> bool:
    """`out`, `output` and `output-dir` of `output`."""
    return name.startswith(word) or re.split("[-_]", word)[0] == name


def _with_suggestion(message: str) -> str:
    """An error of argparse, with the nearest of the words that it takes."""
    match = _CHOICE.fullmatch(message)
    if match is None:
        return message
    known = [word.strip().strip("'") for word in match["known"].split(",")]
    return f"{match['what']} cannot be {match['word']}{did_you_mean(match['word'], known)} (one of {', '.join(known)})"
