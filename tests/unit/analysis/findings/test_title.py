"""What findings are called for people."""

from __future__ import annotations

import pytest

from dlprof.analysis.findings import title
from dlprof.analysis.findings.rules import RULES


def test_a_rule_without_a_title_is_called_by_the_words_of_its_slug() -> None:
    """That of a plug-in."""
    assert title.of_slug("my-own_rule").text == "My own rule"


@pytest.mark.parametrize("slug", RULES)
def test_every_rule_has_a_headline_and_words_for_the_verdict(slug: str) -> None:
    """Short enough for a line of a terminal; the words go on a sentence."""
    given = RULES[slug].title

    assert given is not None
    assert 0 < len(given.text) <= 60
    assert 0 < len(given.went_to) <= 60
    assert not given.text.endswith(".")
