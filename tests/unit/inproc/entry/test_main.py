"""The entry point of the traced process: it finds its own package, and hands over."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import dlprof_probes
import pytest
from dlprof_probes.inproc import boot

PAYLOAD = Path(dlprof_probes.__file__).parents[1]


def test_the_package_is_found_beside_the_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the place that the script's folder takes afterwards; the time is that before all else."""
    handed: list[Any] = []
    monkeypatch.setattr(boot, "main", lambda *args: handed.append((*args, sys.path[0])))
    monkeypatch.setattr(sys, "path", ["/anywhere", *sys.path])
    monkeypatch.setattr(sys, "argv", ["entry", "config.json"])

    names = runpy.run_path(str(PAYLOAD / "dlprof_probes" / "inproc" / "entry" / "__main__.py"))

    assert handed == [("config.json", names["_BOOT_NS"], names["_KNOWN"], str(PAYLOAD))]
