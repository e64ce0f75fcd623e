"""Modules that one of two runs imports alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import import_pairs
from dlprof.analysis.import_pairs import NewImport
from dlprof.store.run import Run
from tests.unit import runs
from tests.unit.runs import MS


def imported(name: str, number: int, ms: int, parent: int = 1, line: int | None = 2) -> dict[str, Any]:
    """An import by a line of the user's, or (None) by a library."""
    row = runs.span("import", 0, 0, name=name, span_id=number, parent_id=parent, line=line)
    return {**row, "dur_ns": ms * MS, "file": None if line is None else "train.py"}


SCRIPT = runs.span("script", 0, 9, span_id=1)
TORCH = imported("torch", 2, 900)


def run_of(path: Path, *imports: dict[str, Any], source: str = "") -> Run:
    """A run with these imports, in whose script that line stands."""
    row = {"file": "train.py", "function": "<module>", "first_line": 1, "line": 3, "hits": 1, "time_ns": 0}
    return runs.held(path, spans=[SCRIPT, TORCH, *imports], lines=[{**row, "source": source}])


def test_a_module_that_only_one_run_imports_is_new(tmp_path: Path) -> None:
    """Without what both import: pandas has NumPy loaded, which the other run imports by itself."""
    a = run_of(tmp_path / "a", imported("pandas", 3, 400, line=5), imported("numpy", 4, 100, parent=3, line=None))
    b = run_of(tmp_path / "b", imported("numpy", 3, 110))

    assert import_pairs.only_in(a, b) == (NewImport("pandas", "train.py", 5, 300 * MS),)
    assert import_pairs.only_in(b, a) == ()


@pytest.mark.parametrize(
    ("one", "source"),
    [
        (imported("torch.serialization", 3, 170, parent=2, line=None), ""),
        (imported("quick", 3, 15), ""),
        (imported("slow", 3, 400), "import os, slow as s"),
        (imported("slow.part", 3, 400), "from slow.other import part"),
        (imported("lazy", 3, 400, parent=77), ""),
    ],
)
def test_what_may_be_in_both_is_not_new(one: dict[str, Any], source: str, tmp_path: Path) -> None:
    """Short imports are not recorded, so that each run tells others of its libraries; and lines tell more than spans."""
    assert import_pairs.only_in(run_of(tmp_path / "a", one), run_of(tmp_path / "b", source=source)) == ()


def test_a_new_module_explains_a_difference_that_is_about_as_large(tmp_path: Path) -> None:
    """In its own direction."""
    a, b = run_of(tmp_path / "a", imported("slow", 3, 400)), run_of(tmp_path / "b")

    told = [import_pairs.explain(a, b, delta * MS, 50 * MS) for delta in (330, 900, -330)]

    assert told == [True, False, False]
    assert import_pairs.explain(b, a, -330 * MS, 50 * MS)
