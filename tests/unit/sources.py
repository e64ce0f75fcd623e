"""Source files of dlprof and its probes, read as Python reads them: each once for all tests of a process."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = {"dlprof": ROOT / "dlprof", "dlprof_probes": ROOT / "probes" / "dlprof_probes"}
_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")
"""Where statements have statements in them. No import is an expression: these, most of a file, are not looked at."""


@cache
def parsed(path: Path) -> ast.Module:
    """A file as a tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


def statements(node: ast.AST, *, of_types: bool = True) -> Iterator[ast.stmt]:
    """All statements below a node, in its functions and classes, too.

    Args:
        node: A module, or a statement.
        of_types: Those in `if TYPE_CHECKING`, which only type checkers see, too.
    """
    for name in _BLOCKS:
        for child in getattr(node, name, ()):
            if of_types or not is_for_types(child):
                if isinstance(child, ast.stmt):
                    yield child
                yield from statements(child, of_types=of_types)


def is_for_types(node: ast.AST) -> bool:
    """Whether a statement is `if TYPE_CHECKING`."""
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
