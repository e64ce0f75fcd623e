"""What the source says beside the code: docstrings, comments, and texts with values left open."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

from dlprof.cli.rule_texts import OPEN, calls, first_paragraph, text_of, tree

__all__ = ["OPEN", "above", "attributes", "calls", "comments", "files", "first_paragraph", "said", "text_of", "tree"]
ROOT = Path(__file__).parents[2]
DLPROF = ROOT / "dlprof"
PROBES = ROOT / "probes" / "dlprof_probes"


def files(*folders: Path) -> Iterator[Path]:
    """All Python files below some folders, in order."""
    for folder in folders:
        yield from sorted(folder.rglob("*.py"))


def said(path: Path, name: str | None = None) -> str:
    """First paragraph of the docstring of a file, or of a function or class in it."""
    node: ast.AST = tree(path)
    if name is not None:
        node = next(n for n in ast.walk(node) if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name == name)
    assert isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef))  # noqa: S101  (chosen so above)
    return first_paragraph(ast.get_docstring(node) or "")


def attributes(path: Path, class_name: str) -> dict[str, str]:
    """Attributes of a class to the docstring that follows each; without one: an empty text."""
    body = next(n for n in tree(path).body if isinstance(n, ast.ClassDef) and n.name == class_name).body
    found = {}
    for node, following in zip(body, [*body[1:], None], strict=True):
        target = (
            node.target if isinstance(node, ast.AnnAssign) else node.targets[0] if isinstance(node, ast.Assign) else 0
        )
        if isinstance(target, ast.Name):
            doc = following.value if isinstance(following, ast.Expr) else None
            found[target.id] = first_paragraph(str(doc.value)) if isinstance(doc, ast.Constant) else ""
    return found


def comments(path: Path) -> tuple[dict[int, str], dict[int, str]]:
    """Comments of a file by line: those behind code, and those that have the line to themselves."""
    behind: dict[int, str] = {}
    alone: dict[int, str] = {}
    text = path.read_text(encoding="utf-8")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            kind = behind if token.line[: token.start[1]].strip() else alone
            kind[token.start[0]] = token.string.lstrip("# ").partition("  # noqa")[0]
    return behind, alone


def above(alone: dict[int, str], line: int) -> str:
    """The comment that ends right above a line, however many lines it has."""
    words: list[str] = []
    while (line := line - 1) in alone:
        words.insert(0, alone[line])
    return " ".join(words)
