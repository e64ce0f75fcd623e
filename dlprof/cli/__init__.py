"""The command line: one file per command, imported only when it is used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dlprof import color
from dlprof.cli import meant
from dlprof.cli.command import Command, arguments, load
from dlprof.cli.parser import Help, Parser
from dlprof.errors import did_you_mean
from dlprof.version import __version__

COMMANDS = {
    "trace": "run a training script under the probes, and report where the time went",
    "attach": "look at a process that runs already: cores, memory, I/O, GPUs, stacks",
    "report": "print the report of a run",
    "lines": "print time and hits of each line of the script",
    "kernels": "print kernels by layer, operator, category, device or step",
    "memory": "print how much memory a run took: when, where, for what, and whether it grows",
    "compare": "say where the gap between runs comes from, part by part",
    "diagnose": "name the causes of a run's time, or of the gap between two runs",
    "try": "run a script again with other settings, and say what becomes of time, memory and loss",
    "gate": "exit with 1 when a part of a run became slower than before",
    "history": "run a benchmark over commits, and name those that made it slower",
    "bench": "run scenarios on backends again and again, as one table",
    "exam": "say how often the diagnosis is right, on scripts with a planted cause",
    "view": "show a run, or a comparison, as a page in the browser",
    "collect": "gather the ranks of a training, of several machines, into one run",
    "import": "make a run of traces of other profilers",
    "export": "write a run for another viewer",
    "mcp": "let an assistant look at runs: a server of the Model Context Protocol",
    "redact": "copy a run without paths, names, source text and arguments, to send it away",
    "sql": "ask the tables of a run with SQL",
    "schema": "print the JSON schema of what --json prints",
    "dump": "print a raw artifact, record by record",
    "runs": "list the runs in a folder",
    "backends": "list, install and remove the managed environments of the backends",
    "scenarios": "list and copy the scripts that come with dlprof",
    "demo": "unpack two stored runs to look at, without any framework",
    "doctor": "say what dlprof can do on this machine, and why not the rest",
    "completion": "print what bash, zsh or fish need to complete dlprof's words",
    "help": "explain a command, or a topic such as exit-codes",
}
"""Every command and what it does."""

EXAMPLES = """\
examples:
  dlprof demo                                            two stored runs, to see what comes out
  dlprof trace train.py                                  with the packages of this interpreter
  dlprof trace train.py --python ~/venv/bin/python       with those of another one
  dlprof scenarios copy mlp                              scripts that come with dlprof
  dlprof trace scenarios/mlp.py --backend mxnet          a managed environment
  dlprof trace train.py -- --epochs 3                    arguments of the script
  dlprof report                                          the last run again
  dlprof lines last
  dlprof sql "SELECT * FROM phases"

`dlprof help COMMAND` tells more; `dlprof help` also lists the topics. Exit codes: those of the script, else
`dlprof help exit-codes`. NO_COLOR and FORCE_COLOR are heeded."""
"""What the help of dlprof itself ends with."""
_ABOUT = (
    "Where does the time of training (Keras, PyTorch, JAX, TensorFlow, MXNet) go, and why is one backend slower than "
    "another?"
)


def parse(words: Sequence[str]) -> tuple[Command, Any]:
    """The command that is asked for, and its `Arguments`; whether output is coloured is set on the way.

    Args:
        words: The command line behind `dlprof`; none ask for help.

    Raises:
        SystemExit: The words make no sense, or ask for help.
    """
    words = list(words) or ["--help"]
    chosen = _command(words)
    parser = make_parser(chosen, others=words[0] != chosen or chosen not in COMMANDS)
    if chosen and chosen not in COMMANDS:
        parser.error(f"there is no command {chosen}{did_you_mean(chosen, COMMANDS)}")
    own, script_arguments = _split(words) if chosen == "trace" else (words, [])
    parsed, unknown = parser.parse_known_args(own)
    if unknown:
        of_command = parser.subcommands()[parsed.command]
        hint = meant.line(of_command, own, unknown, parsed, script_arguments) if chosen == "trace" else None
        of_command.unknown(unknown, hint)
    color.choose(getattr(parsed, "color", "auto"))
    command = load(parsed.command)
    parsed.script_arguments = tuple(script_arguments)
    return command, arguments(command.Arguments, parsed)


def make_parser(*names: str | None, others: bool = True) -> Parser:
    """The parser of the whole command line.

    Args:
        names: Commands that are imported, with all their arguments.
        others: Name the others too; help needs their names alone, and a command that is called needs none of them.
    """
    parser = Parser(prog="dlprof", description=_ABOUT, epilog=EXAMPLES)
    parser.add_argument("-V", "--version", action="version", version=f"dlprof {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for name, summary in COMMANDS.items():
        if not others and name not in names:
            continue
        sub = commands.add_parser(name, help=summary, description=as_sentence(summary), formatter_class=Help)
        if name in names:
            command = load(name)
            sub.epilog = command.EXAMPLES
            command.configure(sub)
    return parser


def as_sentence(summary: str) -> str:
    """What a command does, as the first sentence of its help."""
    return f"{summary[0].upper()}{summary[1:]}."


def _command(words: Sequence[str]) -> str | None:
    """The first word that is neither an option nor the value of one."""
    before = ""
    for word in words:
        if not word.startswith("-") and before != "--color":
            return word
        before = word
    return None


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """What stands before and after the first `--`."""
    if "--" not in words:
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]
