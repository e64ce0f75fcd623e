"""The outside exam on a real engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration import runner

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

SCRIPT = """
    import time
    from mxnet import nd

    total = nd.zeros(3)
    for step in range(20):
        total = total + nd.ones(3)
        total.wait_to_read()
        {slow}
    print(total.asnumpy())
"""
TRUTH = {
    "source": "https://example.org/1",
    "cause": "each step waits",
    "backend": "mxnet",
    "keras": False,
    "accept": ["no-rule-says-this"],
    "line": [9],
    "line_text": ["time.sleep(0.05)"],
    "true_fix": "do not wait",
}


def test_a_problem_is_sat_and_one_that_fails_is_counted(tmp_path: Path) -> None:
    """Both scripts are run and diagnosed; the exam goes on after a failure, and makes no run a second time."""
    for name, slow in (("waits", "time.sleep(0.05)"), ("fails", "1 / 0")):
        (tmp_path / name).mkdir()
        runner.write(tmp_path / name, "buggy.py", SCRIPT.format(slow=slow))
        runner.write(tmp_path / name, "fixed.py", SCRIPT.format(slow="pass"))
    (tmp_path / "truth.json").write_text(json.dumps({"fails": TRUTH, "waits": TRUTH}))
    command = [*runner.DLPROF, "exam", "--outside", ".", "-o", "out", "--format", "json"]

    done = runner.run(command, cwd=tmp_path)

    assert done.code == 1, done.err
    told = json.loads(done.out)
    fails, waits = told["problems"]
    assert "buggy.py: the run ended with" in fails["failed"]
    assert waits["failed"] is None
    assert waits["buggy_ns"] > 0 < waits["fixed_ns"]
    assert waits["rank"] is None
    assert (told["groups"][0]["problems"], told["groups"][0]["failed"]) == (2, 1)

    made = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("waits-*/*/manifest.json")}
    assert len(made) == 2
    again = runner.run([*command, "--only", "waits"], cwd=tmp_path)

    assert again.code == 0, again.err
    assert {path: path.stat().st_mtime_ns for path in made} == made
