"""Leave to run the script of a run again: what will run is said, and asked, before it does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported when it is asked: --help stays fast
    from dlprof.store.run import Run


def agreed(run: Run, what: str, *, yes: bool) -> bool:
    """Say what will run, and ask.

    Args:
        run: Its script is to run.
        what: The command or option that wants to run it, as it is typed.
        yes: Whether `--yes` was given: the answer for a run that is this user's beyond doubt.

    Raises:
        UsageError: There is no terminal to ask at; or the run is not of this user and machine.
    """
    from dlprof.errors import UsageError
    from dlprof.report.say import say
    from dlprof.trials import again, consent

    for line in consent.plan(run, again.command(run, run.folder.path / consent.FOLDER)):
        say(f"  {line}")
    doubts = consent.doubts(run)
    for doubt in doubts:
        say(f"  but {doubt}")
    if yes and not doubts:
        return True
    if not sys.stdin.isatty():
        why = f", and {doubts[0]}: --yes is not enough" if doubts else ""
        hint = f"trace the script again, or {what} at a terminal" if doubts else "--yes"
        raise UsageError(f"{what} runs the script again, and there is no terminal to ask at{why}.", hint=hint)
    print("dlprof: go on? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
