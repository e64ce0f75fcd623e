"""A Hessian or a Jacobian that is made in full, of which a few entries, or its diagonal, are used.

No engine says in its trace which operators belong to it: the source tells what is used, and how much of the steps
it has remains a question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground, StepPart

_TITLE = Title("Derivatives were computed that are not used", "derivatives that nothing uses")
_MADE = re.compile(r"^\s*(?:return\s+|(?P<name>\w+)\s*=\s*)?.*\b(?P<what>hessian|jacfwd|jacrev)\(")
_USED_AT_ONCE = re.compile(r"\b(trace|diag|diagonal)\(.*\b(hessian|jacfwd|jacrev)\(")
_FAR = 12
"""Lines behind the one that makes it, in which it is used."""
_SAVES = 0.6
_OF_KERNELS = 0.3
"""Share of the steps that kernels have at least."""
_HOW = {
    "jax": "jax.jvp(jax.grad(f), (x,), (unit_vector,)) gives one row, for each entry that is used",
    "torch": "torch.func.jvp(torch.func.grad(f), (x,), (unit_vector,)) gives one row, for each entry that is used",
}


def claims(case: Case) -> Iterator[Claim]:
    """A question, where the source makes one and uses a part."""
    if case.steps is None or case.engine.name not in _HOW:
        return
    kernels = sum(kernel.ns for kernel in case.tree.layers)
    files = sorted(case.code.user_files)
    place = next((line for file in files for line in _in_file(file, case.code.lines(file))), None)
    if place is None or kernels < _OF_KERNELS * max(1, case.own(Tree.FIT_STEPS)):
        return
    yield Claim(
        Sentence("Of a matrix of derivatives that is computed in full a few entries, or its diagonal, are used:"),
        case.takes(case.steps if case.asynchronous else case.steps / StepPart.KERNELS, share=_SAVES),
        [queries.operators()],
        "Compute what is used alone: of the gradient, the derivative in one direction at a time.",
        place,
        title=_TITLE,
        basis=Basis.ESTIMATED,
        support=Support(Ground.MODEL, agree=0.7),
        fix=_HOW[case.engine.name],
    )


def _in_file(file: str, lines: Sequence[str]) -> Iterator[SourceLine]:
    """Lines that make such a matrix, of which a part is used."""
    for number, text in enumerate(lines, 1):
        made = _MADE.match(text)
        if made is None or text.lstrip().startswith("#"):
            continue
        behind = lines[number : number + _FAR]
        if _USED_AT_ONCE.search(text) or (made["name"] and _is_used_in_part(made["name"], behind)):
            yield file, number


def _is_used_in_part(name: str, lines: Sequence[str]) -> bool:
    """Whether all uses of a name are single entries, its trace or its diagonal."""
    uses = [text for text in lines if re.search(rf"\b{name}\b", text)]
    part = rf"\b{name}\[\s*\w+\s*(,\s*\w+\s*)*\]|\b(trace|diag|diagonal)\(\s*{name}\s*\)"
    return bool(uses) and not any(re.search(rf"\b{name}\b", re.sub(part, "", text)) for text in uses)
