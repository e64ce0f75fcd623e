"""The words of phases and paths are spelled in one place: a slip elsewhere would give nothing, silently."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import dlprof
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import FIT_PHASES, Phase, StepPart

ROOT = Path(dlprof.__file__).parent
HOMES = (ROOT / "schema" / "vocabulary.py", ROOT / "schema" / "tree_paths.py")
PATHS = (value for value in vars(Tree).values() if isinstance(value, TreePath) and "/" in value)
ROOTS = (Tree.FIT_STEPS, Tree.EVALUATE_STEPS, Tree.PREDICT_STEPS)
WORDS = frozenset(
    {
        *FIT_PHASES,
        *PATHS,
        *(root / part for root in ROOTS for part in StepPart),
        StepPart.HOST_PYTHON,
        "host_python",
    }
)


def spelled(source: str) -> Iterator[tuple[int, str]]:
    """Line and word of every text that is a word of the vocabulary."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in WORDS:
            yield node.lineno, node.value


@pytest.mark.slow
def test_words_of_phases_and_paths_stand_in_the_schema_only() -> None:
    """In no other module as a text of its own."""
    found = [
        f"{path.relative_to(ROOT)}:{line}: {word}"
        for path in sorted(ROOT.rglob("*.py"))
        if path not in HOMES
        for line, word in spelled(path.read_text(encoding="utf-8"))
    ]

    assert found == []


def test_a_word_that_is_spelled_is_found() -> None:
    """As a phase, as a path, and as a part of a step; not inside of other texts, nor as an ordinary word."""
    source = 'a = "fit.steps"\nb = ("fit/steps/idle", "fit")\nc = {"host python": "see fit.steps", "host_python": 1}'

    assert list(spelled(source)) == [
        (1, "fit.steps"),
        (2, "fit/steps/idle"),
        (3, "host python"),
        (3, "host_python"),
    ]
    assert Phase.FIT not in WORDS
