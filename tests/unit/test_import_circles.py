"""No file imports itself through others: what is there can be read, and moved, one at a time."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.unit import sources

TREES = tuple(sources.PACKAGES.values())


def modules(tree: Path) -> Iterator[tuple[str, Path]]:
    """The modules of a package, by name."""
    for path in sorted(tree.rglob("*.py")):
        parts = path.relative_to(tree.parent).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imported(name: str, path: Path, known: Mapping[str, Path]) -> set[str]:
    """Modules of ours that one imports, wherever in it; a package stands for its `__init__`."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found: set[str] = set()
    for node in sources.statements(sources.parsed(path), of_types=False):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{origin}.{alias.name}"
                found.add(inner if inner in known else origin)
    return {module for module in found if module in known and module != name}


def may_turn(graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Without what leads to an end: ends go, then what leads to these alone, and so on."""
    left = {name: {other for other in others if other in graph} for name, others in graph.items()}
    while ends := {name for name, others in left.items() if not others}:
        left = {name: others - ends for name, others in left.items() if name not in ends}
    return left


def circles(graph: Mapping[str, set[str]]) -> set[frozenset[str]]:
    """Sets of modules that each lead to all others of the set."""
    graph = may_turn(graph)
    reach: dict[str, set[str]] = {}
    for start in graph:
        seen: set[str] = set()
        waiting = list(graph[start])
        while waiting:
            module = waiting.pop()
            if module not in seen:
                seen.add(module)
                waiting.extend(graph.get(module, ()))
        reach[start] = seen
    return {
        frozenset(other for other in reach[start] if start in reach.get(other, ()))
        for start in graph
        if start in reach[start]
    }


def graph_of(tree: Path) -> dict[str, set[str]]:
    """What imports what in a package."""
    known = dict(modules(tree))
    return {name: imported(name, path, known) for name, path in known.items()}


@pytest.mark.slow
@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.name)
def test_no_module_imports_itself_through_others(tree: Path) -> None:
    """Not at its begin and not in its functions either."""
    assert {tuple(sorted(circle)) for circle in circles(graph_of(tree))} == set()


def test_a_circle_of_three_is_found() -> None:
    """Also when it is not the begin of the way that leads into it."""
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": {"b"}, "e": set()}) == {frozenset({"b", "c", "d"})}


def test_imports_for_types_alone_do_not_count(tmp_path: Path) -> None:
    """They are not there when the program runs."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "one.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from package import two\n"
    )
    (package / "two.py").write_text("def f():\n    from . import one\n    return one\n")

    assert graph_of(package) == {"package": set(), "package.one": set(), "package.two": {"package.one"}}
