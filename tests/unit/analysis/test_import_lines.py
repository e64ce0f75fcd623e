"""The line that most of the time of imports is in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlprof.analysis import import_lines
from dlprof.analysis.import_lines import ImportLine
from tests.unit import runs
from tests.unit.runs import MS


def spans(*rows: tuple[int, int | None, int, str | None, int | None], of: int | None = 1) -> list[dict[str, Any]]:
    """Span 1, the script, and imports: number, parent (None: the script's), milliseconds, file and line."""
    made = [{"span_id": 1, "kind": "script", "name": "script", "start_ns": 0, "dur_ns": 9000 * MS}]
    for number, parent, ms, file, line in rows:
        above = of if parent is None else parent
        made.append(
            {
                "span_id": number,
                "parent_id": above,
                "kind": "import",
                "name": "m",
                "start_ns": 0,
                "dur_ns": ms * MS,
                "file": file,
                "line": line,
            }
        )
    return made


def found(folder: Path, rows: list[dict[str, Any]], import_s: float = 2.0) -> ImportLine | None:
    """What is told of a run whose phase `import` took so long."""
    phases = [{"phase": "import", "parent": None, "dur_ns": round(import_s * 1000) * MS, "count": 1}]
    return import_lines.longest(runs.make(folder / "run", runs.manifest(), spans=rows, phases=phases))


def test_a_line_of_more_than_half_of_the_imports_is_told(tmp_path: Path) -> None:
    """With all that it imports; two imports of a line are one."""
    rows = spans((2, None, 300, "train.py", 1), (3, None, 800, "train.py", 3), (4, None, 800, "train.py", 3))

    assert found(tmp_path, rows) == ImportLine("train.py", 3, 1600 * MS)


def test_of_a_module_of_the_users_it_is_the_line_in_there(tmp_path: Path) -> None:
    """Which says more than the line that imports the module; libraries have no lines."""
    rows = spans((2, None, 1700, "train.py", 1), (3, 2, 1600, "data.py", 7), (4, 3, 1500, None, None))

    assert found(tmp_path, rows) == ImportLine("data.py", 7, 1600 * MS)


def test_no_line_is_told_where_none_has_so_much(tmp_path: Path) -> None:
    """Half is not more than half."""
    rows = spans((2, None, 1000, "train.py", 1), (3, None, 1000, "train.py", 2))

    assert found(tmp_path, rows) is None


def test_imports_in_other_phases_do_not_count(tmp_path: Path) -> None:
    """One within a call of fit is in the time of that."""
    assert found(tmp_path, spans((2, None, 1700, "train.py", 9), of=77)) is None


def test_an_import_within_one_of_the_same_line_is_counted_once(tmp_path: Path) -> None:
    """Its time is in the other's."""
    rows = spans((2, None, 1500, "train.py", 1), (3, 2, 1400, "train.py", 1))

    assert found(tmp_path, rows) == ImportLine("train.py", 1, 1500 * MS)


def test_a_line_that_a_thread_with_the_phases_imports_at_is_told(tmp_path: Path) -> None:
    """Nothing is around its imports; those of a thread that has no phases are in none."""
    rows = spans((2, None, 1500, "train.py", 8), (3, None, 1800, "train.py", 3), of=None)
    rows[1] |= {"thread_id": 7, "start_ns": 100 * MS}
    rows[2] |= {"thread_id": 8, "start_ns": 100 * MS}
    turn = {"thread": "worker", "thread_id": 7, "system_id": None, "start_ns": 0, "end_ns": 3000 * MS}
    phases = [{"phase": "import", "parent": None, "dur_ns": 2000 * MS, "count": 1}]
    run = runs.make(tmp_path / "run", runs.manifest(phase_threads=[turn]), spans=rows, phases=phases)

    assert import_lines.longest(run) == ImportLine("train.py", 8, 1500 * MS)
