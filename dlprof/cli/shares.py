"""Shares as they are typed."""

from __future__ import annotations

import re

from dlprof.errors import UsageError


def share(text: str, flag: str) -> float:
    """The share that `5%` or `0.05` stands for; `5` alone is neither, and not 500 %.

    Args:
        text: What was typed.
        flag: Behind which flag.

    Raises:
        UsageError: It is none.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(%?)", text.strip())
    if match is None:
        raise UsageError(f"{flag} must be a share such as 5% or 0.05, not {text}.")
    number = float(match[1])
    if number >= 1 and not match[2]:
        raise UsageError(f"{flag} {match[1]} would be {100 * number:g} %.", hint=f"{flag} {match[1]}%")
    return number / (100 if match[2] else 1)
