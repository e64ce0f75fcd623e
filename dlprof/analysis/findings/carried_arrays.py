"""Arrays that a loop of XLA carries and changes in part: where that is not done in place, each turn goes through all.

`states = jnp.where(mask, states.at[t].set(h), states)` in a `lax.scan`: what is chosen between, or needed again for the
gradient, is not overwritten, so that T turns copy T rows each. What a scan's function gives besides its carry XLA
stacks in place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground, StepPart
from dlprof.units import duration

_TITLE = Title("A loop went through an array it carries in each turn", "copying an array that a loop carries")
_LOOPS = r"\b(scan|fori_loop|while_loop)\("
_WRITES = re.compile(r"\.at\[(?P<at>.*?)\]\s*\.(set|add|multiply|mul|max|min)\(|dynamic_update_(slice|index)")
_COPIES = re.compile(r"dynamic[-_]update[-_]slice|^copy|select")
"""In XLA's names of kernels, fused ones too; it makes a loop of each scatter, which is none of the script's."""
_FEWEST = 8
"""Times a step."""
_LEAST_NS = 20_000
"""On average: a row that is written in place takes a few microseconds."""
_SHARE = 0.20
_SAVES = 0.9


def claims(case: Case) -> Iterator[Claim]:
    """One, where kernels of such lines have much of the traced time."""
    if case.engine.name != "jax" or case.pair or case.code.written(_LOOPS) is None:
        return
    whole = case.kernels.by_layer.all_ns
    made = case.kernels.line_kernels(lambda row: bool(_COPIES.search(row["name"] or "")))
    found = {line: ran for line, ran in made.items() if _writes_a_part(case.code.source(*line))}
    ns, count = sum(ran.ns for ran in found.values()), sum(ran.count for ran in found.values())
    turns = count / max(1, case.kernels.window_steps)
    if turns < _FEWEST or ns < _LEAST_NS * count or ns < _SHARE * max(1, whole):
        return
    share = min(1.0, ns / max(1, whole))
    line = next(iter(found))
    yield Claim(
        Sentence(
            f"Each turn of a loop that XLA runs changes a part of an array and goes through all of it: {turns:.0f} "
            f"times a step, {duration(ns // count)} each, {100 * share:.0f} % of the kernels' time:"
        ),
        case.takes(Tree.FIT_STEPS / StepPart.KERNELS, share=_SAVES * share),
        [queries.operators()],
        "Have the function of lax.scan give what a turn makes as its second value, which XLA stacks in place, and do "
        "not carry the array. Where it has to be carried: change nothing but .at[i].set(...), and choose between rows, "
        "not between whole arrays. A gradient through the carried array goes through all of it, too.",
        line,
        title=_TITLE,
        basis=Basis.ESTIMATED,
        support=Support(Ground.PLACE, seen=case.kernels.seen_steps, part=share, usual=_SHARE / 2),
        fix="return carry, row from the function of lax.scan, in place of array.at[i].set(row) in its carry",
    )


def _writes_a_part(text: str) -> bool:
    """Whether a line changes a row, a column or an element: of `x.at[1:-1].set(...)` nearly all is new."""
    found = _WRITES.search(text)
    if found is None:
        return False
    at = found["at"]
    return at is None or any(":" not in part and part.strip(" .") for part in at.split(","))
