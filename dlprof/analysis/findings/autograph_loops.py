"""Loops of Python in functions that TensorFlow rewrites before it traces them: their frames are of generated files.

AutoGraph calls a function `f` `tf__f`, and makes the body of its loop number n `loop_body_n`. A loop over `range` it
runs in Python, turn by turn, by `_py_for_stmt`; one over `tf.range` becomes one operation, whose body is traced once.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dlprof.analysis import source_loops
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import SourceLine
from dlprof.analysis.stacks import Frame

_IN_PYTHON = frozenset({"_py_for_stmt", "_py_while_stmt"})
_PREFIX, _BODY = "tf__", "loop_body"
_LOOPS = (ast.For, ast.While)


def of_frames(case: Case, frames: Sequence[Frame]) -> SourceLine | None:
    """The loop whose turns are traced one by one in a stack, by the line that begins it; None: it shows none.

    Args:
        case: The run.
        frames: Innermost first.
    """
    turned = next((n for n, frame in enumerate(frames) if frame.name in _IN_PYTHON), None)
    if turned is None:
        return None
    function = next((frame.name for frame in frames[turned:] if frame.name.startswith(_PREFIX)), None)
    body = next((frame.name for frame in reversed(frames[:turned]) if frame.name.startswith(_BODY)), _BODY)
    if function is None:
        return None
    name, number = function.removeprefix(_PREFIX), _number(body)  # of very many stacks: files are read once for each
    return case.run.once(f"loop {number} of {name}", lambda _run: _loop_of(case, name, number))


def _number(body: str) -> int:
    """Which loop of its function a body is of, from 0."""
    last = body.removeprefix(_BODY).removeprefix("_")
    return int(last) if last.isdecimal() else 0


def _loop_of(case: Case, function: str, number: int) -> SourceLine | None:
    for file in sorted(case.code.user_files):
        tree = source_loops.parsed(case.code.lines(file)) or ast.Module([], [])
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == function:
                lines = sorted(one.lineno for one in ast.walk(node) if isinstance(one, _LOOPS))
                return (file, lines[min(number, len(lines) - 1)]) if lines else None
    return None
