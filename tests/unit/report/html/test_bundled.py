"""The plotting library that pages carry is the one that was built, byte by byte."""

from __future__ import annotations

import hashlib
from importlib import resources

FOLDER = resources.files("dlprof.report.html") / "assets" / "echarts"


def test_the_library_and_what_it_was_built_of_are_those_that_were_looked_at() -> None:
    """Whoever builds it anew writes new sums: a change of the minified file alone is seen."""
    sums = dict(line.split()[::-1] for line in (FOLDER / "SHA256SUMS").read_text(encoding="utf-8").splitlines())

    assert {name: hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() for name in sums} == sums
    assert set(sums) == {"echarts.min.js", "entry.js", "package.json"}
