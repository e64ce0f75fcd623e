"""What a command is: a module with its arguments as one typed object."""

from __future__ import annotations

import argparse
import importlib
from dataclasses import fields
from typing import Any, Protocol, TypeVar, cast

T = TypeVar("T")
MODULES = {"import": "import_", "try": "try_"}
"""Modules that cannot have the name of their command."""


class Command(Protocol):
    """The module `dlprof.cli.NAME` of a command."""

    EXAMPLES: str
    """What its help ends with."""
    Arguments: type[Any]
    """A dataclass, with a field for everything that `configure` adds to the parser."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add its arguments and flags to a parser."""

    def run(self, args: Any) -> int:
        """Carry it out; returns the exit code.

        Args:
            args: Its `Arguments`.

        Raises:
            DlprofError: It cannot; the error says why, and what to try.
        """


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the run that a command looks at: the last one where none is named."""
    parser.add_argument(
        "run", metavar="RUN", nargs="?", default="last", help="path or name of a run, `last` (default), `last~1`, ..."
    )


def load(name: str) -> Command:
    """The module of a command."""
    return cast("Command", importlib.import_module(f"dlprof.cli.{MODULES.get(name, name)}"))


def arguments(kind: type[T], parsed: argparse.Namespace) -> T:
    """What was parsed as the `Arguments` of a command; what a subcommand does not have keeps its default."""
    known = vars(parsed)
    return kind(**{field.name: known[field.name] for field in fields(kind) if field.name in known})  # type: ignore[arg-type]
