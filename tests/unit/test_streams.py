"""dlprof's own standard streams."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PRELUDE = "import sys; from dlprof import streams; streams.guard(); "


def ended(code: str, redirected: str) -> tuple[int, str, str]:
    """How a process ends whose streams a shell has redirected so, with what it left on those that are not."""
    shell = f'exec "$0" -c "$1" {redirected}'
    done = subprocess.run(
        ["/bin/bash", "-c", shell, sys.executable, PRELUDE + code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("redirected", ["2>/dev/full", "2>&-", "2> >(true)"])
def test_what_cannot_be_said_is_dropped(redirected: str) -> None:
    """On standard error; nothing of it comes to standard output."""
    code = "import time; time.sleep(0.1); [print('x' * 9999, file=sys.stderr) for _ in range(20)]; print('end')"

    assert ended(code, redirected) == (0, "end\n", "")


@pytest.mark.parametrize(
    ("redirected", "number"), [(">/dev/full", 28), (">&-", 9), ("> >(true)", 32)], ids=["full", "closed", "gone"]
)
def test_an_output_that_takes_nothing_is_an_error_once(redirected: str, number: int) -> None:
    """What is left in the buffer does not fail again when Python ends."""
    code = """
import os, time
time.sleep(0.2)
try:
    print('x' * 99999, flush=True)
except streams.OutputError as error:
    os.write(2, str(error.errno).encode())
print('rest')
"""
    assert ended(code, redirected) == (0, "", str(number))


def test_closed_streams_do_not_give_their_numbers_to_files() -> None:
    """A file of dlprof's with the number 1 would take what is printed."""
    code = "import os; number = os.open('/dev/null', os.O_RDONLY); sys.exit(number < 3)"

    assert ended(code, "0<&- 1>&- 2>&-") == (0, "", "")


def test_a_name_that_is_not_utf_8_can_be_printed() -> None:
    """Names of files are bytes."""
    assert ended("print('a\\udcff')", "") == (0, "a?\n", "")


def test_much_output_to_a_pipe_that_does_not_block_is_whole() -> None:
    """Another program may have set it so."""
    code = "import os; os.set_blocking(1, False); print('x' * 1_000_000); print('end')"

    assert ended(code, "") == (0, "x" * 1_000_000 + "\nend\n", "")
