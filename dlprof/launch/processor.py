"""Which processor this machine has."""

from __future__ import annotations

import os
from pathlib import Path

_CORES = Path("/proc/cpuinfo")
_HALF_FLOATS = {
    "float16": ("avx512_fp16", "amx_fp16", "asimdhp"),
    "bfloat16": ("avx512_bf16", "amx_bf16", "bf16", "avx512bw"),
}
"""Sets of instructions, of x86-64 and of 64-bit ARM, any of which has products of such floats.

With AVX-512 alone libraries make bfloat16 longer in registers; what that costs was not measured.
"""


def name() -> str | None:
    """What the kernel calls it, else the machine's kind; None: neither is told."""
    return _told("model name") or os.uname().machine or None


def has(feature: str) -> bool:
    """Whether the kernel says that it has a set of instructions, as `avx512f`."""
    return feature in (_features() or ())


def half_floats() -> list[str] | None:
    """Floats of 16 bits that libraries have kernels for there; others go through plain code. None: not told."""
    known = _features()
    return None if known is None else [kind for kind, sets in _HALF_FLOATS.items() if not known.isdisjoint(sets)]


def _features() -> frozenset[str] | None:
    told = _told("flags") or _told("Features")
    return None if told is None else frozenset(told.split())


def _told(what: str) -> str | None:
    """What the kernel says of the first core, which is all that is read; None: nothing."""
    try:
        with _CORES.open(encoding="utf-8") as lines:
            pairs = (line.partition(":") for line in lines)
            return next((told.strip() for key, _, told in pairs if key.strip() == what), None)
    except OSError:
        return None
