"""What a finding is called for people: slugs are for scripts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Title:
    """The name of a cause.

    Attributes:
        text: A headline, such as: TensorFlow stood still between epochs.
        went_to: What the time went to, as `72 % of the 12.3 s went to ...` goes on; empty: there are no such words.
    """

    text: str
    went_to: str = ""


def of_slug(slug: str) -> Title:
    """The title of a rule that has none: its slug as words."""
    words = slug.replace("-", " ").replace("_", " ").strip()
    return Title(words[:1].upper() + words[1:])
