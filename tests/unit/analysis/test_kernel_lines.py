"""Lines of the user's that made kernels."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis import kernel_lines, kernels
from tests.unit.analysis.findings.cases import keep_source
from tests.unit.runs import held, window

MADE = {"op": "dot_general", "category": "matmul", "file": "train.py", "line": 2, "ms": 5}


def test_lines_are_known_where_an_operator_has_one(tmp_path: Path) -> None:
    """Traces of JAX tell them."""
    bare = {"op": "aten::mm", "category": "matmul", "ms": 5}

    assert kernel_lines.are_known(held(tmp_path / "a", **window([bare, MADE])))
    assert not kernel_lines.are_known(held(tmp_path / "b", **window([bare])))


def test_a_row_has_the_text_of_its_line_where_its_file_was_kept(tmp_path: Path) -> None:
    """One of a line that the file does not have, one of a file that is not there, and one of no line have none."""
    others = [{**MADE, "line": 9, "ms": 4}, {**MADE, "file": "net.py", "ms": 3}, {"op": "copy", "ms": 2}]
    run = held(tmp_path / "r", **window([MADE, *others]))
    keep_source(run, "import jax\n    y = x @ w\n")

    assert kernel_lines.texts(run, kernels.summarise(run, "line").rows) == ["y = x @ w", None, None, None]
