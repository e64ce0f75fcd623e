"""What several runs have in common, on a terminal."""

from __future__ import annotations

import io
from pathlib import Path

from dlprof.report import repeats
from tests.unit.report.reports import rows
from tests.unit.runs import intervals, make, manifest, phases


def printed(folder: Path) -> list[str]:
    """The lines of the text, without empty ones."""
    out = io.StringIO()
    repeats.print_repeats(folder, file=out)
    return [line.strip() for line in out.getvalue().splitlines() if line.strip()]


def test_parts_have_median_least_and_most(tmp_path: Path) -> None:
    """Of three runs; what takes less than 1 % is left out."""
    for name, seconds in (("1", 3.0), ("2", 4.0), ("3", 6.0)):
        make(
            tmp_path / name,
            phases=phases(startup=0.05, script=seconds, teardown=10 - 0.05 - seconds),
            phase_intervals=intervals(("script", 0.05, 0.05 + seconds)),
        )

    lines = printed(tmp_path)

    assert " ".join(lines).startswith("3 runs in")
    table = {row[0]: row[1:] for row in rows(lines) if len(row) == 4}
    assert table["wall"] == ["10.0 s", "10.0 s", "10.0 s"]
    assert table["script"] == ["4.00 s", "3.00 s", "6.00 s"]
    assert "startup" not in table


def test_runs_without_phases_are_told(tmp_path: Path) -> None:
    """There is nothing to sum up."""
    make(tmp_path / "1", manifest())

    assert "none of them has phases" in printed(tmp_path)


def test_the_next_step_is_to_compare_the_folder(tmp_path: Path) -> None:
    """Or to gate it."""
    make(tmp_path / "1", phases=phases(script=10), phase_intervals=intervals(("script", 0, 10)))

    assert " ".join(printed(tmp_path)).endswith(f"next: dlprof compare {tmp_path} OTHER, dlprof gate {tmp_path} OTHER")
