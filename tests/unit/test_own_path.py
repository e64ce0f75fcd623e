"""Where a Python of dlprof's own looks for modules."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from dlprof_probes import own_path

LIBRARY = os.path.dirname(os.__file__)


@pytest.mark.parametrize("first", [True, False])
def test_folders_of_the_users_come_last_but_those_that_hold_dlprof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: bool
) -> None:
    """Python's own come before all; the first entry is a user's where `python -m` put it there."""
    (tmp_path / "checkout" / "dlprof").mkdir(parents=True)
    current, given, checkout = (str(tmp_path / name) for name in ("current", "given", "checkout"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([given, checkout]))
    monkeypatch.setattr(sys, "path", [current, given, checkout, LIBRARY, f"{LIBRARY}/lib-dynload", "/packages"])

    own_path.settle(first=first)

    rest = [current, "/packages", given] if not first else ["/packages", current, given]
    assert sys.path == [LIBRARY, f"{LIBRARY}/lib-dynload", checkout, *rest]
