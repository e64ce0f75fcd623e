"""What is measured of a traced cell."""

from __future__ import annotations

import os

import pytest

import dlprof
from tests.unit.notebook.shells import HERE, Shell, rows


@pytest.mark.slow
@pytest.mark.usefixtures("untraced")
def test_lines_of_the_cell_are_counted_under_one_name(shell: Shell) -> None:
    """The code of the cell is `cell.py`, in one piece; its text is kept in the run."""
    shell.run(f"{HERE}\ntotal = 0\nfor i in range(10):\n    total += i\ndef f():\n    return 1\na = f(); b = f()")

    assert rows(shell.names["_dlprof"]) == [
        ("cell.py", "<module>", 1, 1, "total = 0"),
        ("cell.py", "<module>", 2, 11, "for i in range(10):"),
        ("cell.py", "<module>", 3, 10, "    total += i"),
        ("cell.py", "<module>", 4, 1, "def f():"),
        ("cell.py", "<module>", 6, 2, "a = f(); b = f()"),
        ("cell.py", "f", 5, 2, "    return 1"),
    ]
    assert shell.names["_dlprof"].run.folder.source_lines("cell.py")[0] == "total = 0"


@pytest.mark.slow
@pytest.mark.usefixtures("untraced")
def test_two_runs_of_a_cell_can_be_compared_line_by_line(shell: Shell) -> None:
    """Also when the cell was changed in between."""
    shell.run(f"{HERE} --into a\nx = 1\nfor i in range(3):\n    i")
    shell.run(f"{HERE} --into b\nfor i in range(5):\n    i")

    lines = dlprof.compare(shell.names["a"], shell.names["b"]).lines().set_index("source")

    assert lines.loc["i", ["a_hits", "b_hits"]].to_list() == [3, 5]
    assert lines.loc["x = 1", "a_hits"] == 1
    assert lines["b_hits"].isna()["x = 1"]


@pytest.mark.slow
def test_the_time_line_begins_and_ends_with_the_cell(shell: Shell) -> None:
    """Phases sum to the wall time, without the time in which the process was there before."""
    shell.run(f"{HERE}\nimport time\ntime.sleep(0.2)")
    view = shell.names["_dlprof"]

    phases = view.phases()
    assert phases["dur_ns"].sum() == view.wall_ns
    assert 0.2 <= phases.loc["script", "dur_ns"] / 1e9 < 2
    assert phases.loc["startup", "dur_ns"] < 0.1e9


@pytest.mark.slow
def test_marks_in_a_cell_make_phases_and_steps(shell: Shell) -> None:
    """For training without Keras; marks do nothing again afterwards."""
    from dlprof_probes import mark

    shell.run(f"""
        {HERE}
        from dlprof_probes import mark
        with mark.phase("fit", batch_size=4):
            for batch in mark.steps(range(3)):
                pass
    """)

    assert shell.names["_dlprof"].steps()["loop"].to_list() == ["train"] * 3
    assert mark._sink is None


@pytest.mark.slow
def test_all_probes_work_beside_the_notebook(shell: Shell) -> None:
    """Cores of the machine, this process, and stacks that begin with the cell; not dlprof's own helpers."""
    shell.run("""
        %%dlprof --stacks-hz 100
        import time
        end = time.time() + 1.5
        while time.time() < end:
            sum(range(1000))
    """)
    view = shell.names["_dlprof"]
    states = {row["name"]: row["state"] for row in view.summary["probes"]}

    assert states["cores"] == "on"
    assert view.cores()["time_ns"].min() > 0
    commands = dict(zip(view.table("processes")["pid"], view.table("processes")["command"], strict=True))
    assert os.getpid() in commands
    assert [one for one in commands.values() if "py-spy" in str(one) or "dlprof_probes" in str(one)] == []
    assert view.summary["process"]["dlprof_cpu_pct"] is not None
    if states["stacks"] == "on":  # a machine may forbid it
        outer = view.sql(
            "SELECT DISTINCT file FROM frames JOIN stacks USING (stack_id) WHERE depth = 0 AND thread = 'MainThread'"
        )
        assert "cell.py" in outer["file"].to_list()


@pytest.mark.slow
def test_two_traced_cells_measure_the_same(shell: Shell) -> None:
    """Nothing of the first is left to disturb the second."""
    for name in ("a", "b"):
        shell.run(f"{HERE} --into {name}\nfor i in range(10):\n    i * i")

    assert rows(shell.names["a"]) == rows(shell.names["b"])
    assert not [row for name in "ab" for row in shell.names[name].summary["health"]]
