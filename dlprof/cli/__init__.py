"""The command line: one file per command, imported only when it is used."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from dlprof import __version__
from dlprof.cli.command import Command, arguments, load
from dlprof.errors import ExitCode

COMMANDS = {
    "trace": "run a Keras script under the probes, and report where the time went",
    "report": "print the report of a run",
    "lines": "print time and hits of each line of the script",
    "kernels": "print kernels by layer, operator, category, device or step",
    "compare": "say where the gap between runs comes from, part by part",
    "diagnose": "name the causes of a run's time, or of the gap between two runs",
    "gate": "exit with 1 when a part of a run became slower than before",
    "bench": "run scenarios on backends again and again, as one table",
    "exam": "say how often the diagnosis is right, on scripts with a planted cause",
    "view": "show a run, or a comparison, as a page in the browser",
    "import": "make a run of traces of other profilers",
    "export": "write a run for another viewer",
    "sql": "ask the tables of a run with SQL",
    "dump": "print a raw artifact, record by record",
    "runs": "list the runs in a folder",
    "backends": "list, install and remove the managed environments of the backends",
    "doctor": "say what dlprof can do on this machine, and why not the rest",
}
"""Every command and what it does."""

_EPILOG = """\
examples:
  dlprof trace train.py                                  the Keras of this interpreter
  dlprof trace train.py --python ~/venv/bin/python       that of another one
  dlprof trace scenarios/mlp.py --backend mxnet          a managed environment
  dlprof trace train.py -- --epochs 3                    arguments of the script
  dlprof lines last
  dlprof sql last "SELECT * FROM phases"

`dlprof COMMAND --help` tells more. Exit codes: those of the script, else docs/exit-codes.md."""


class Parser(argparse.ArgumentParser):
    """Ends with dlprof's own exit code for a wrong command line, and suggests the nearest command."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong in one line, and end."""
        self.print_usage(sys.stderr)
        if message.startswith("argument COMMAND: invalid choice"):
            word = message.split("'")[1] if "'" in message else ""
            near = get_close_matches(word, COMMANDS, 1)
            message = f"there is no command {word}" + (f"; did you mean {near[0]}?" if near else "")
        if "unrecognized arguments" in message:
            message += " (the script's own arguments come after --)" if "trace" in sys.argv else ""
        print(f"{self.prog}: error: {message}", file=sys.stderr)
        raise SystemExit(int(ExitCode.USAGE))


def parse(words: Sequence[str]) -> tuple[Command, Any]:
    """The command that is asked for, and its `Arguments`.

    Raises:
        SystemExit: The words make no sense, or ask for help.
    """
    parser = Parser(prog="dlprof", description=_ABOUT, epilog=_EPILOG, formatter_class=_Help)
    parser.add_argument("--version", action="version", version=f"dlprof {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    chosen = next((word for word in words if not word.startswith("-")), None)
    command = None
    for name, summary in COMMANDS.items():
        sub = commands.add_parser(name, help=summary, description=as_sentence(summary), formatter_class=_Help)
        if name == chosen:  # only that module is imported: --help stays fast
            command = load(name)
            sub.epilog = command.EXAMPLES
            command.configure(sub)
    own, script_arguments = _split(list(words)) if chosen == "trace" else (list(words), [])
    parsed = parser.parse_args(own)
    assert command is not None  # noqa: S101  (argparse has refused an unknown command)
    parsed.script_arguments = tuple(script_arguments)
    return command, arguments(command.Arguments, parsed)


def as_sentence(summary: str) -> str:
    """What a command does, as the first sentence of its help."""
    return f"{summary[0].upper()}{summary[1:]}."


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """What stands before and after the first `--`."""
    if "--" not in words:
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]


class _Help(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32)


_ABOUT = "Where does the time of Keras training go, and why is one backend slower than another?"
