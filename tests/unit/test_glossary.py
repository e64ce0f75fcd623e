"""The glossary has every word that reports, tables and JSON use."""

from __future__ import annotations

import enum
import re
from pathlib import Path

import pytest

from dlprof.config import PROBES
from dlprof.schema import vocabulary

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "glossary.md").read_text(encoding="utf-8")
CODE = set(re.findall(r"`([^`]+)`", TEXT))
WORDS = {
    name: [member.word if isinstance(member, vocabulary.EventKind) else str(member.value) for member in kind]
    for name, kind in vars(vocabulary).items()
    if isinstance(kind, type) and issubclass(kind, enum.Enum) and kind.__module__ == vocabulary.__name__
}
"""Every word of each enumeration of the vocabulary."""


@pytest.mark.parametrize("name", WORDS)
def test_every_word_of_the_vocabulary_is_in_the_glossary(name: str) -> None:
    """Spelled as it is stored; a new one must be explained."""
    assert [word for word in WORDS[name] if word not in CODE] == []


@pytest.mark.parametrize("name", ["Phase", "StepPart", "Category"])
def test_phases_parts_and_categories_have_a_line_each(name: str) -> None:
    """That says what belongs to it."""
    explained = re.findall(r"^\| `([^`]+)` \| \S", TEXT, re.MULTILINE)

    assert [word for word in WORDS[name] if word not in explained] == []


def test_every_probe_is_named() -> None:
    """As `--probes` takes it."""
    assert [name for name in PROBES if name not in CODE] == []


def test_no_word_is_explained_twice_in_a_table() -> None:
    """A reader would not know which one counts."""
    for table in TEXT.split("\n\n"):
        terms = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
        assert len(set(terms)) == len(terms)


def test_the_glossary_is_on_the_site() -> None:
    """Its first page leads to it."""
    assert "\nglossary\n" in (DOCS / "index.md").read_text(encoding="utf-8")
