"""`dlprof redact`: a copy of a run that can be sent away."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from dlprof.cli.command import add_run

EXAMPLES = """\
examples:
  dlprof redact last                             into RUN-redacted: no paths, host, user, source text, arguments
  dlprof redact last -o for-upstream             into that folder
  dlprof redact last -o for-team --keep source,arguments
  dlprof view for-upstream -o page.html          the page of the copy

The copy has a manifest and tables, no raw artifacts. Names of files, functions, layers and packages stay. It is
searched for the names of machines and users before it is handed out. Passwords, tokens and keys on command
lines are not in the run either, unless it was traced with --keep-arguments."""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    run: str
    output: str | None
    keep: str


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    add_run(parser)
    parser.add_argument("-o", dest="output", metavar="DIR", help="folder of the copy (default: RUN-redacted, here)")
    parser.add_argument(
        "--keep", default="", metavar="LIST", help="what stays: any of paths, host, user, source, arguments"
    )


def run(args: Arguments) -> int:
    """Make the copy, and say what is not in it."""
    from dlprof.pipeline import redacting
    from dlprof.pipeline.opening import open_run
    from dlprof.redaction import Part
    from dlprof.report.say import say

    kept = _parts(args.keep)
    hidden = tuple(part for part in Part if part.value not in kept)
    opened = open_run(args.run)
    done = redacting.redact(opened, Path(args.output or f"{opened.name}-redacted"), hidden)
    print(args.output or f"{opened.name}-redacted")
    say(f"taken out: {', '.join(done.hidden) or 'nothing'}")
    if done.names:
        say("names: " + ", ".join(f"{name} is {instead}" for name, instead in done.names.items()) + "; none is left")
    return 0


def _parts(text: str) -> frozenset[str]:
    from dlprof.errors import UsageError, nearest
    from dlprof.redaction import Part

    words = frozenset(word.strip() for word in text.split(",") if word.strip())
    known = [part.value for part in Part]
    for word in sorted(words - set(known)):
        raise UsageError(
            f"There is no part {word} to keep.", hint=f"one of: {', '.join(known)}", near=nearest(word, known)
        )
    return words
