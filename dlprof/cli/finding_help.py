"""`dlprof help FINDING`: what a finding means, what to do, and where more is told."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO

from dlprof.analysis.findings import rank_case, registry
from dlprof.analysis.findings.rank_advice import ADVICE
from dlprof.analysis.findings.rules import RULES, module_name
from dlprof.analysis.findings.title import Title, of_slug
from dlprof.cli import rule_texts, topics

_STEPS = 4
"""Pieces of advice that are told; the run itself says which of them fits."""
_STEP, _SIGNAL = 260, 300
"""Characters of a piece of advice, and of the signal, at most."""
_VALUE = re.compile(r"\{\w+\}")
"""What only a training tells, in advice about its ranks."""
_SIGNS = re.compile(r"[`\\]")


def titles() -> Mapping[str, Title]:
    """Every finding and its title: of one run or of two, of plug-ins, and of the ranks of a training."""
    rules = {slug: rule.title or of_slug(slug) for slug, rule in registry.all_rules().items()}
    return {**rank_case.TITLES, **rules}


def show(slug: str, *, file: TextIO) -> None:
    """Print it, on a screen."""
    from dlprof.report.console import make_page

    page = make_page(file)
    page.say(f"{slug}: {titles()[slug].text}", "bold")
    for text in _meaning(slug):
        page.say(text)
    steps = _advice(slug)
    if steps:
        page.title("What to do", f"({rule_texts.OPEN} stands for what the run tells)")
        for step in steps:
            page.say(f"- {step}", indent=2)
    page.console.print()
    page.say(_more(slug), "dim")


def _meaning(slug: str) -> Iterator[str]:
    """What the rule sees, and by which signal."""
    if slug in RULES:
        yield _plain(rule_texts.first_paragraph(sys.modules[module_name(slug)].__doc__ or ""))
    signal = topics.row(_topic(slug), slug)
    if signal:
        yield f"Signal: {_shortened(_plain(signal), _SIGNAL)}"


def _advice(slug: str) -> list[str]:
    if slug in ADVICE:
        return [_VALUE.sub(rule_texts.OPEN, text) for text in ADVICE[slug].values()]
    if slug not in RULES:
        return []
    found = rule_texts.advice(Path(str(sys.modules[module_name(slug)].__file__)))
    whole_first = sorted(found, key=lambda text: text.count(rule_texts.OPEN))
    return [_shortened(text, _STEP) for text in whole_first[:_STEPS]]


def _more(slug: str) -> str:
    """What to type for more."""
    if slug in rank_case.TITLES:
        return "more: dlprof help ranks   dlprof diagnose RUN (its ranks, where they lose time, and what to do)"
    if slug not in RULES:
        return "It is of a plug-in: its own documentation tells more."
    return "more: dlprof help findings   dlprof diagnose RUN --evidence   dlprof help comparing"


def _topic(slug: str) -> str:
    return "ranks" if slug in rank_case.TITLES else "findings"


def _plain(text: str) -> str:
    return _SIGNS.sub("", text)


def _shortened(text: str, most: int) -> str:
    return textwrap.shorten(text, most, placeholder=" ...")
