"""`dlprof help FINDING`."""

from __future__ import annotations

import io

import pytest

from dlprof.analysis.findings.rank_case import TITLES
from dlprof.analysis.findings.rules import RULES
from dlprof.cli import finding_help


def shown(slug: str) -> str:
    """What is printed of a finding."""
    out = io.StringIO()
    finding_help.show(slug, file=out)
    return out.getvalue()


@pytest.mark.parametrize("slug", RULES)
def test_a_finding_fits_on_a_screen(slug: str) -> None:
    """With its signal and what to do."""
    text = shown(slug)

    assert len(text.splitlines()) < 25
    assert "\nSignal: " in text
    assert "\nWhat to do" in text


@pytest.mark.parametrize("slug", TITLES)
def test_a_finding_of_ranks_leads_to_their_chapter(slug: str) -> None:
    """Its signal stands there."""
    text = shown(slug)

    assert "\nSignal: " in text
    assert "\nWhat to do" in text
    assert "dlprof help ranks" in text


def test_what_only_a_training_tells_is_left_open() -> None:
    """In advice about its ranks: an ellipsis, here in ASCII."""
    lines = shown("rank-failed").splitlines()

    assert "What to do  (. stands for what the run tells)" in lines
    assert "  - Its own run tells what it did last: dlprof report ." in lines
