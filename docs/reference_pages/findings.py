"""Every rule of the diagnosis, from its file."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from dlprof.analysis.findings.rules import RULES, module_name
from reference_pages import markdown as md
from reference_pages import source

HOME = source.DLPROF / "analysis" / "findings"
_ABOUT = """\
`dlprof diagnose` asks these rules, in this order: time that one has claimed is no other's. How they are put together is
told in [Comparing, diagnosing, gating](../../comparing.md), how often they are right in [The exam](../../exam.md)."""


def page() -> str:
    """The page."""
    rows = [
        (str(number), f"[{slug}](#{slug})", md.prose(source.said(_file(slug)))) for number, slug in enumerate(RULES, 1)
    ]
    parts = [_ABOUT, md.table(("", "finding", "cause"), rows)]
    for slug in RULES:
        path = _file(slug)
        told = [
            f"- Looks at: {md.prose(source.said(path, 'look'))}",
            f"- `--confirm` tries: {'; '.join(md.plain(one) for one in remedies(path)) or 'nothing'}",
            *(f"- Cannot tell: {md.plain(one)}" for one in abstentions(path)),
        ]
        parts += [f"## {slug}", md.prose(source.said(path)), "\n".join(told)]
    return md.page("Findings", *parts)


def _file(slug: str) -> Path:
    return Path(str(sys.modules[module_name(slug)].__file__))


def remedies(path: Path) -> list[str]:
    """Titles of the remedies that a rule offers."""
    return list(dict.fromkeys(source.text_of(call.args[0]) for call in source.calls(source.tree(path), "Remedy")))


def abstentions(path: Path) -> list[str]:
    """For want of what a rule abstains: by itself, or where it asks the case."""
    own = _raised(source.tree(path))
    of_case = _of_case()
    asked = [n.attr for n in ast.walk(source.tree(path)) if isinstance(n, ast.Attribute) and n.attr in of_case]
    return list(dict.fromkeys([*own, *(text for name in asked for text in of_case[name])]))


def _of_case() -> dict[str, list[str]]:
    """Members of a case and its parts that abstain, and why; constructors, which end every diagnosis, are left out."""
    methods = [
        node
        for path in sorted(HOME.glob("*.py"))
        for node in ast.walk(source.tree(path))
        if isinstance(node, ast.FunctionDef) and node.name != "__init__"
    ]
    return {method.name: texts for method in methods if (texts := _raised(method))}


def _raised(node: ast.AST) -> list[str]:
    return [source.text_of(call.args[0]) for call in source.calls(node, "Abstain")]
