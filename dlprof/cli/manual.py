"""The man page: all commands with their options, out of the definitions that parse them, as troff's man macros."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

from dlprof.cli import COMMANDS, as_sentence, make_parser, topics
from dlprof.cli.command import load
from dlprof.cli.described import arguments, invocation, meaning, subcommands, synopsis
from dlprof.version import __version__

_CODE = re.compile(r"`([^`]+)`")
_ROW = re.compile(r"^\| (\d+) \| (.+) \|$", re.MULTILINE)
"""A row of the table of exit codes."""
_SIGNS = {"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"}
"""Signs to troff's names of them."""
_ABOUT = """\
dlprof runs a training script, unchanged, under probes, and tells where its time went: phases, steps, kernels by layer,
lines, stacks, cores, memory and GPU; then the causes, with the time that each costs. The script's output, results and
exit code stay as they are without dlprof. Arguments of the script come after `--`. The report goes to standard error;
each run is a folder below dlprof_runs/."""
_RUN = """\
A RUN is the path of a run folder, its name below dlprof_runs/, `last` (meant where none is named), or `last~1`, the run
before it. Options may stand before, between and behind the other words. All commands take `--color WHEN`: auto
(at a terminal that wants it), always or never."""
_VARIABLES = {
    "DLPROF_DATA": "folder of the managed environments and of all else that dlprof keeps between runs (default: the "
    "user's data folder)",
    "DLPROF_PYTHONS": "more interpreters to look for: programs or folders, separated by :",
    "DLPROF_BACKEND, DLPROF_PYTHON, DLPROF_PROBES, ...": "settings of `dlprof trace`, named as its options are; those "
    "on the command line stand above them, those of [tool.dlprof] in pyproject.toml below",
    "NO_COLOR, FORCE_COLOR": "switch colours off, or on",
}


def page() -> str:
    """The page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield rf'.TH DLPROF 1 "" "dlprof {__version__}" "User Commands"'
    yield from (".SH NAME", r"dlprof \- where the time of deep learning's training goes, and why")
    yield from (".SH SYNOPSIS", r"\fBdlprof\fP \fICOMMAND\fP [\fIargument\fP ...]", ".br", r"\fBdlprof\fP \-\-version")
    yield from (".SH DESCRIPTION", _text(_ABOUT), ".PP", _text(_RUN))
    yield ".SH COMMANDS"
    for name, parser in make_parser(*COMMANDS).subcommands().items():
        yield from _command(name, parser)
    yield ".SH EXIT STATUS"
    yield _text("dlprof trace ends as the script ended; when dlprof itself fails, the script has not been started:")
    for code, means in _ROW.findall(topics.text("exit-codes")):
        yield from (".TP", code, _text(means.replace(r"\|", "|")))
    yield ".SH ENVIRONMENT"
    for name, means in _VARIABLES.items():
        yield from (".TP", rf"\fB{_text(name)}\fP", _text(means))
    yield from (".SH FILES", ".TP", r"\fIdlprof_runs/\fP", _text("the runs of a folder; see `dlprof help run-folder`"))
    yield from (".TP", r"\fIpyproject.toml\fP", _text("[tool.dlprof] has settings of `dlprof trace`"))
    yield from (".SH SEE ALSO", _text("Topics of `dlprof help`: " + ", ".join(topics.TOPICS) + "."))


def _command(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    yield rf'.SS "dlprof {name}"'
    yield _text(as_sentence(COMMANDS[name]))
    yield from _described(parser, f"dlprof {name}")
    for sub, inner in subcommands(parser).items():
        yield from (".PP", rf"\fBdlprof {name} {sub}\fP")
        yield from _described(inner, f"dlprof {name} {sub}")
    yield from (".PP", ".nf", *(_line(line) for line in load(name).EXAMPLES.splitlines()), ".fi")


def _described(parser: argparse.ArgumentParser, words: str) -> Iterator[str]:
    """How it is typed, and what each argument means."""
    yield from (".PP", _text(synopsis(parser, words)))
    for action in arguments(parser):
        yield from (".TP", rf"\fB{_text(invocation(action))}\fP", _text(meaning(parser, action)))


def _text(text: str) -> str:
    """A paragraph, on one line; what stands between backticks is bold."""
    parts = _CODE.split(" ".join(text.split()))
    return _guarded(
        "".join(rf"\fB{_escaped(part)}\fP" if number % 2 else _escaped(part) for number, part in enumerate(parts))
    )


def _line(text: str) -> str:
    """A line that stays as it is; an empty one is a space of its own."""
    return _guarded(_escaped(text)) or ".sp"


def _escaped(text: str) -> str:
    """A text whose signs stay what shells take: troff would make typographic ones of them."""
    return "".join(_SIGNS.get(sign, sign) for sign in text)


def _guarded(line: str) -> str:
    r"""A line whose first sign troff would take for a request begins with `\&`, which is nothing."""
    return rf"\&{line}" if line.startswith((".", "'")) else line
