"""The file into which a program states its phases."""

from __future__ import annotations

import json
import time
from pathlib import Path

from dlprof.launch.mark_file import MarkFile


def test_lines_get_the_time_at_which_they_were_written(tmp_path: Path) -> None:
    """Also half lines, when their end comes, and the last one without an end."""
    file = MarkFile(tmp_path)
    before = time.perf_counter_ns()
    with file.path.open("a") as out:
        out.write("begin fit\nst")
        out.flush()
        time.sleep(0.05)
        out.write("ep\nend fit")
    file.stop()

    rows = [json.loads(line) for line in (tmp_path / "marks.jsonl").read_text().splitlines()]
    assert [text for _, text in rows] == ["begin fit", "step", "end fit"]
    assert before < rows[0][0] < rows[1][0] <= rows[2][0]
