"""The line that was probably meant, where `dlprof trace` is given words that it does not know."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from dlprof.cli.parser import Parser

_INTERPRETER = re.compile(r"(python|pypy)[\d.]*")


def line(
    parser: Parser, own: Sequence[str], unknown: Sequence[str], parsed: argparse.Namespace, given: Sequence[str]
) -> str:
    """What to type instead.

    Args:
        parser: That of `trace`.
        own: The words before `--`, the command first.
        unknown: Those of them that the parser does not know.
        parsed: What it made of the others.
        given: The words after `--`.
    """
    mended = _respelt(parser, own, unknown)
    if mended:
        return _typed(mended, given)
    ours, theirs = _shared_out(own, unknown, parsed.script)
    if parsed.program:
        return f"dlprof {shlex.join([*ours, '--', *theirs, *given])}"
    python = theirs.pop(0) if is_interpreter(theirs[0]) else None
    script = None if parsed.module else _script(theirs, parsed.script)
    if script is not None:
        at = theirs.index(script)
        theirs = theirs[at + 1 :] if python else [*theirs[:at], *theirs[at + 1 :]]
        at = ours.index("trace") + 1
        ours = [*ours[:at], script, *ours[at:]]
    elif python and not parsed.module:
        return f"dlprof {shlex.join([*ours, '--exec', '--', python, *theirs, *given])}"
    return _typed([*ours, *(["--python", python] if python else [])], [*theirs, *given])


def is_interpreter(word: str) -> bool:
    """Whether a word names Python itself, as in `python train.py`."""
    return bool(_INTERPRETER.fullmatch(Path(word).name))


def _typed(words: Sequence[str], arguments: Sequence[str]) -> str:
    """A line, and where arguments of the script belong."""
    line = shlex.join([*words, *(["--", *arguments] if arguments else [])])
    return f"dlprof {line}    (the script's own arguments come after --)"


def _respelt(parser: Parser, own: Sequence[str], unknown: Sequence[str]) -> list[str]:
    """All words, with options of ours spelt right; none where any may be the script's."""
    options = [word for word in unknown if word.startswith("-")]
    right = {word: parser.misspelt(word) for word in options}
    if not options or not all(right.values()):
        return []
    return [part for word in own for part in right.get(word) or [word]]


def _shared_out(own: Sequence[str], unknown: Sequence[str], script: str | None) -> tuple[list[str], list[str]]:
    """Words that are ours; and those that are not, with what was taken for the script, in their order."""
    ours, theirs, left = [], [], list(unknown)
    for word in own:
        if left and word == left[0]:
            theirs.append(left.pop(0))
        elif word == script:
            theirs.append(word)
            script = None
        else:
            ours.append(word)
    return ours, theirs


def _script(words: Sequence[str], taken: str | None) -> str | None:
    """The word that is the script: what was taken for it may be the value of an option of the script's own."""
    python = [word for word in words if word.endswith(".py") and not word.startswith("-")]
    there = [word for word in words if Path(word).is_file()]
    if taken in python:
        return taken
    found = [word for word in python if word in there] or python or there
    return found[0] if found else taken if taken in words else None
