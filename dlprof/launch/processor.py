"""Which processor this machine has."""

from __future__ import annotations

import os
from pathlib import Path


def name() -> str | None:
    """What the kernel calls it, else the machine's kind; None: neither is told."""
    return _told("model name") or os.uname().machine or None


def has(feature: str) -> bool:
    """Whether the kernel says that it has a set of instructions, as `avx512f`."""
    return feature in (_told("flags") or "").split()


def _told(what: str) -> str | None:
    """What the kernel says of the first core; None: nothing."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((line.partition(":")[2].strip() for line in lines if line.partition(":")[0].strip() == what), None)
