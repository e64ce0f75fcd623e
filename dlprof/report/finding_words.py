"""What a finding is called for people, wherever it is shown."""

from __future__ import annotations


def heading(title: str, *, is_question: bool) -> str:
    """What a finding is called: one that is not sure enough is asked."""
    return f"Perhaps: {title}" if is_question else title
