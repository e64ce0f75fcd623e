"""Which processor this machine has."""

from __future__ import annotations

import os
from pathlib import Path


def name() -> str | None:
    """What the kernel calls it, else the machine's kind; None: neither is told."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return os.uname().machine or None
