"""Queues of a script that hold as much as is put into them, and those that have a limit, by its source."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from dlprof.analysis.source_calls import called

_QUEUES = frozenset({"Queue", "LifoQueue", "PriorityQueue", "SimpleQueue", "JoinableQueue"})
_LIMITS = frozenset({"maxsize", "maxlen"})
_LIMITED = "deque"
"""Takes its limit as the second argument; without one it is a list like others."""


@dataclass(frozen=True)
class Queues:
    """By the last part of the names that they are given: the `q` of `self.q`.

    Attributes:
        endless: What is put into these waits for nothing.
        limited: These hold so many things, and no more.
    """

    endless: Collection[str]
    limited: Collection[str]

    def is_endless(self, container: str) -> bool:
        """Whether a container, as the source names it, is such a queue."""
        return _last(container) in self.endless

    def is_limited(self, container: str) -> bool:
        """Likewise."""
        return _last(container) in self.limited


def of_files(trees: Iterable[ast.Module]) -> Queues:
    """The queues of some files; a name that stands for both kinds is of neither."""
    endless, limited = set[str](), set[str]()
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names, has_limit = {_last(ast.unparse(one)) for one in targets}, _has_limit(node.value)
                if has_limit:
                    limited |= names
                elif has_limit is False:
                    endless |= names
    return Queues(endless - limited, limited - endless)


def _has_limit(call: ast.Call) -> bool | None:
    """Whether what is made has a limit; None: it is no queue. A limit that is computed is one."""
    name = called(call)
    told = next((one.value for one in call.keywords if one.arg in _LIMITS), None)
    if name == _LIMITED:
        given = told or (call.args[1] if len(call.args) > 1 else None)
        return True if given is not None and not _is_none(given) else None
    if name not in _QUEUES:
        return None
    given = told or (call.args[0] if call.args else None)
    return given is not None and not _is_none(given)


def _is_none(value: ast.expr) -> bool:
    """Whether it says that there is no limit: 0, less, or None."""
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        return True
    return isinstance(value, ast.Constant) and not value.value


def _last(name: str) -> str:
    return name.rpartition(".")[2]
