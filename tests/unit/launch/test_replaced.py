"""A process that goes on as another program."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from dlprof.launch.replaced import ImageWatch, Replaced

EXEC = "import os, sys; print(flush=True); sys.stdin.readline(); os.execv('/bin/sh', ['sh', '-c', 'echo; read x'])"
AGAIN = (
    "import os, sys; print(flush=True); sys.stdin.readline(); os.execv(sys.executable, [sys.executable, '-c', {!r}])"
)
SECOND = "print(flush=True); input()"


def watched(code: str) -> tuple[str | None, Replaced | None]:
    """What is seen of a program at its beginning, and after the line that it waits for."""
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        watch = ImageWatch(process.pid)
        watch.look(1)
        first = watch.replaced.program if watch.replaced else None
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.readline()
        watch.look(2)
        process.communicate(b"\n")
        watch.look(3)
    return first, watch.replaced


def test_another_program_is_seen() -> None:
    """By its path, when it was seen first."""
    first, then = watched(EXEC)

    assert first is None
    assert then == Replaced(str(Path("/bin/sh").resolve()), 2)


def test_the_same_program_begun_anew_is_seen() -> None:
    """A script that restarts itself."""
    _first, then = watched(AGAIN.format(SECOND))

    assert then == Replaced(str(Path(sys.executable).resolve()), 2)


def test_a_program_that_stays_is_not_replaced() -> None:
    """Nor is one that has ended."""
    assert watched("print(flush=True); input(); print(flush=True); input()") == (None, None)


def test_a_process_that_is_gone_is_not_looked_at() -> None:
    """There is nothing to be said of it."""
    with subprocess.Popen(["true"]) as process:
        process.wait()
    watch = ImageWatch(process.pid)
    watch.look(time.perf_counter_ns())

    assert watch.replaced is None
