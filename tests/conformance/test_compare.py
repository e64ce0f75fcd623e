"""What the suite would see, and what it overlooks on purpose."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.conformance.compare import differing, without_report
from tests.conformance.observe import Observation

SEEN = Observation(0, b"out\n", b"err\n", ("SIGTSTP",), ("file work/a -rw-r--r--", "file work/a: b'x'"), ())


@pytest.mark.parametrize(
    ("other", "lines"),
    [
        (replace(SEEN, ending=1), ["-ending: 0", "+ending: 1"]),
        (replace(SEEN, ending=None), ["-ending: 0", "+ending: None"]),
        (replace(SEEN, out=b"out"), ["-out: b'out\\n'", "+out: b'out'"]),
        (replace(SEEN, err=b"err\nmore\n"), ["+err: b'more\\n'"]),
        (replace(SEEN, events=()), ["-shell: SIGTSTP"]),
        (replace(SEEN, files=("file work/a -rw-------", SEEN.files[1])), ["-file work/a -rw-r--r--", "+file work/a -rw-------"]),
        (replace(SEEN, files=(*SEEN.files, "file tmp/b prw-r--r--")), ["+file tmp/b prw-r--r--"]),
        (replace(SEEN, left=("sleep 30",)), ["+left running: sleep 30"]),
        (SEEN, []),
    ],
)  # fmt: skip
def test_whatever_differs_is_a_line(other: Observation, lines: list[str]) -> None:
    """Ending, streams to the last character, stops, names, modes and contents of files, processes that stay."""
    assert differing(SEEN, other) == lines


def test_lines_of_dlprofs_own_and_addresses_are_overlooked() -> None:
    """`dlprof: ...` is what dlprof says; addresses are never the same."""
    said = replace(SEEN, err=b"dlprof: warning: no Keras\nerr\n", out=b"at 0x7f00aa00\n")

    assert differing(replace(SEEN, out=b"at 0x7f00bb11\n"), said) == []


def test_a_report_stands_behind_all_that_the_script_has_said() -> None:
    """Then it is taken away; one in between, or none at all, is a difference."""
    behind = replace(SEEN, err=b"err\ntrain.py\nPhases   import 2 s\n")
    of_failure = replace(SEEN, err=b"err\ntrain.py\nThe script ended with exit code 1 before anything was trained.\n")
    between = replace(SEEN, err=b"Phases   import 2 s\nerr\n")

    assert differing(SEEN, without_report(behind, SEEN)) == []
    assert differing(SEEN, without_report(of_failure, SEEN)) == []
    assert differing(SEEN, without_report(between, SEEN)) != []
    assert differing(SEEN, without_report(SEEN, SEEN)) != []
