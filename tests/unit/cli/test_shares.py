"""Shares as they are typed."""

from __future__ import annotations

import pytest

from dlprof.cli.shares import share
from dlprof.errors import UsageError


@pytest.mark.parametrize(("text", "expected"), [("5%", 0.05), ("0.05", 0.05), (" 12.5 % ", 0.125), ("0", 0.0)])
def test_percent_and_fractions_are_taken(text: str, expected: float) -> None:
    """As people write them."""
    assert share(text, "--least") == expected


def test_anything_else_is_refused() -> None:
    """With the flag's name."""
    with pytest.raises(UsageError, match="--least must be a share such as 5% or 0.05, not fast"):
        share("fast", "--least")


@pytest.mark.parametrize(("text", "percent"), [("5", 500), ("1", 100), ("2.5", 250)])
def test_a_number_that_lacks_its_percent_sign_is_refused(text: str, percent: int) -> None:
    """With the percent sign it is taken: who writes 5 rarely means five times as much."""
    with pytest.raises(UsageError, match=f"--least {text} would be {percent} %") as refused:
        share(text, "--least")

    assert refused.value.hint == f"--least {text}%"
    assert share("500%", "--least") == 5.0
