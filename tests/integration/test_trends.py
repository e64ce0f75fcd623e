"""What a loop leaves behind with each step, told with its slope: real descriptors, threads and objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.integration import runner

pytestmark = pytest.mark.integration

# As a training does, each step goes through the memory of the process: on machines that take away what nobody touches
# for half a second, counting blocks would take twenty times as long else, and is done as much more rarely.
SCRIPT = """
    import gc
    import sys
    import threading
    import time
    from dlprof_probes import mark

    class Kept:
        def __init__(self, step):
            self.step = [step]

    def train():
        kept, stop = [], threading.Event()
        for step in mark.steps(range(int(sys.argv[2]))):
            time.sleep(0.02)
            sys.getallocatedblocks(), len(gc.get_objects())
            if sys.argv[1] == "leaks":
                kept.append(open(__file__))
                if step % 10 == 0:
                    threading.Thread(target=stop.wait, daemon=True).start()
                for number in range(20):
                    kept.append(Kept(number))
        stop.set()

    with mark.phase("fit"):
        train()
"""


def traced(folder: Path, kind: str, steps: int) -> dict[str, Any]:
    """The memory of a run, and what is found in it."""
    runner.write(folder, "script.py", SCRIPT)
    done = runner.trace("script.py", "--", kind, str(steps), cwd=folder)
    assert done.code == 0, done.err
    told: dict[str, Any] = runner.asked("memory", "run", cwd=folder)
    return told


def test_each_thing_that_is_left_behind_has_its_slope(tmp_path: Path) -> None:
    """A file and 20 instances, each with its list, with each step; a thread with each tenth."""
    told = traced(tmp_path, "leaks", 800)
    found = {one["quantity"]: one for one in told["trends"]}

    growing = {name: found[name]["per_step"] for name in found if found[name]["is_growing"]}
    assert growing == {
        "descriptors": pytest.approx(1, rel=0.05),
        "threads": pytest.approx(0.1, rel=0.1),
        "objects": pytest.approx(46, rel=0.1),
        "blocks": pytest.approx(95, rel=0.3),
    }
    assert found["descriptors"]["names"][0]["name"].endswith("script.py")
    assert {one["name"] for one in found["objects"]["names"]} >= {"Kept", "list"}
    findings = runner.asked("diagnose", "run", cwd=tmp_path)["findings"]
    lines = {(one["slug"], one["line"]) for one in findings}
    assert lines >= {("resource-growth", 18), ("resource-growth", 20)}


def test_a_loop_that_leaves_nothing_behind_has_no_slope_of_note(tmp_path: Path) -> None:
    """And each is told all the same."""
    told = traced(tmp_path, "nothing", 400)

    assert [one["quantity"] for one in told["trends"] if one["is_growing"]] == []
    assert {one["quantity"] for one in told["trends"]} >= {"step_time", "blocks", "threads", "descriptors", "processes"}
