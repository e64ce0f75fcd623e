"""What dlprof says of itself while it works: on standard error, apart from what a command prints."""

from __future__ import annotations

import sys


def say(line: str) -> None:
    """Print a line as dlprof's own, at once."""
    print(f"dlprof: {line}", file=sys.stderr, flush=True)
