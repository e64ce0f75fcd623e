"""What a rule of the diagnosis tells its user: read from its source, for the help and for the reference alike."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

OPEN = "…"
"""Stands for a value that is known only when dlprof runs."""
_DLPROF = Path(__file__).parents[1]
_LEAST = 20
"""Letters of a text that can be advice, and no word of a sentence."""


@cache
def tree(path: Path) -> ast.Module:
    """A file, parsed."""
    return ast.parse(path.read_text(encoding="utf-8"))


def first_paragraph(text: str) -> str:
    """All up to the first empty line, as one line."""
    return " ".join(text.strip().partition("\n\n")[0].split())


def text_of(node: ast.AST | None) -> str:
    """A text as the code builds it; what is known only later is `OPEN`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return text_of(node.left) + text_of(node.right)
    return OPEN


def calls(node: ast.AST, *names: str) -> Iterator[ast.Call]:
    """Calls of functions or classes by their plain names, in the order of the source."""
    found = (
        n for n in ast.walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in names
    )
    return iter(sorted(found, key=lambda call: (call.lineno, call.col_offset)))


def advice(path: Path) -> list[str]:
    """What a rule tells the user to do: each text that can be the next step of one of its claims."""
    steps = [call.args[3] for call in calls(tree(path), "Claim") if len(call.args) > 3]
    told = [text for step in steps for text in _texts(step, tree(path), ())]
    plain = (re.sub(rf"^(?:{OPEN})+ ?(?=[A-Z])", "", text.strip()) for text in told)
    return list(dict.fromkeys(re.sub(rf"{OPEN}+", OPEN, text) for text in plain if _has_words(text)))


def _has_words(text: str) -> bool:
    return len(text.replace(OPEN, "")) > _LEAST and not text.startswith(",")


def _texts(node: ast.AST, module: ast.Module, seen: tuple[str, ...]) -> Iterator[str]:
    """Texts that an expression may be; names and functions of its file, and names of other modules, are followed."""
    name = _followed(node, seen)
    parts = list(_meant(name, module)) if name else [*_elsewhere(node, module)] or _parts(node)
    for part in parts:
        yield from _texts(part, module, (*seen, name))
    if not parts and not name:
        yield text_of(node)


def _parts(node: ast.AST) -> list[ast.expr]:
    """What an expression is one of; of a text that has no words of its own, what is put into it."""
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.Subscript):
        return [node.value]
    if isinstance(node, (ast.Dict, ast.Tuple)):
        return node.values if isinstance(node, ast.Dict) else node.elts
    if isinstance(node, ast.JoinedStr) and not _has_words(text_of(node)):
        return [value.value for value in node.values if isinstance(value, ast.FormattedValue)]
    return []


def _followed(node: ast.AST, seen: tuple[str, ...]) -> str:
    """The name of what an expression only names or calls; empty: it is something else."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.id if isinstance(node, ast.Name) and node.id not in seen else ""


def _meant(name: str, module: ast.Module) -> Iterator[ast.AST]:
    """What a name of a file is, or what a function of it returns."""
    for node in module.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            yield node.value
        if isinstance(node, ast.FunctionDef) and node.name == name:
            yield from (n.value for n in ast.walk(node) if isinstance(n, ast.Return) and n.value is not None)


def _elsewhere(node: ast.AST, module: ast.Module) -> Iterator[ast.AST]:
    """What a name of another module of dlprof is that a file imports from its package: `file_work.OF_CHUNKS`."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return
    for one in module.body:
        if isinstance(one, ast.ImportFrom) and any(alias.name == node.value.id for alias in one.names):
            path = Path(_DLPROF, *(one.module or "").split(".")[1:], f"{node.value.id}.py")
            yield from _meant(node.attr, tree(path)) if path.is_file() else ()
