"""What a rule is: a name, a function that looks at a run, and a place in the order in which rules claim time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim
from dlprof.analysis.findings.title import Title


@dataclass(frozen=True)
class Rule:
    """A cause that is looked for.

    Attributes:
        slug: Its name, stable: scripts and dashboards know it.
        look: Gives claims, none where all is well; raises `Abstain` where a signal that it needs is missing.
        after: Of a plug-in's rule: the slug of the rule that it comes after; None: it comes last.
        title: What its findings are called for people, where a claim has no title of its own; None: by its slug.
    """

    slug: str
    look: Callable[[Case], Iterable[Claim]]
    after: str | None = None
    title: Title | None = None
