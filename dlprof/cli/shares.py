"""Shares as they are typed."""

from __future__ import annotations

import re

from dlprof.errors import UsageError


def share(text: str, flag: str) -> float:
    """The share that `5%` or `0.05` stands for.

    Args:
        text: What was typed.
        flag: Behind which flag.

    Raises:
        UsageError: It is none.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(%?)", text.strip())
    if match is None:
        raise UsageError(f"{flag} must be a share such as 5% or 0.05, not {text}.")
    return float(match[1]) / (100 if match[2] else 1)
