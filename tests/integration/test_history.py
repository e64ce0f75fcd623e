"""A history of a small repository: the script needs no engine."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.history.repositories import committed, git
from tests.unit.published import problems

pytestmark = [pytest.mark.integration, pytest.mark.measured]
SCRIPT = """\
import time

from dlprof_probes import mark


def batches():
    for row in range(40):
        time.sleep({input_s})
        yield row


with mark.phase("fit", batch_size=1, samples=40, epochs=1):
    with mark.epoch(0):
        for row in mark.steps(batches()):
            time.sleep(0.003)
print({text!r})
"""
MATRIX = """\
repeat = 2
[trace]
probes = "phases,lines"
[[work]]
script = "../src/train.py"
"""
COMMITS = 7


def test_a_slow_down_five_commits_back_is_found_with_its_part(tmp_path: Path) -> None:
    """By bisecting; after Ctrl-C it goes on; the checkout of the user stays as it was."""
    texts = [SCRIPT.format(input_s=0.025 if n >= COMMITS - 5 else 0.001, text=f"commit {n}") for n in range(COMMITS)]
    repository = committed(tmp_path / "r", "x", file="README")
    for name in ("src", "bench"):
        (repository.root / name).mkdir()
    for text in texts:
        (repository.root / "src" / "train.py").write_text(text)
        git(repository.root, "add", "-A")
        git(repository.root, "commit", "-q", "-m", text.splitlines()[-1])
    (repository.root / "bench" / "m.toml").write_text(MATRIX)
    before = git(repository.root, "status", "--porcelain")
    command = [
        sys.executable, "-m", "dlprof", "history", "r", "--bench", "r/bench/m.toml", "--commits", f"HEAD~{COMMITS - 1}..",
        "--at-most", "4", "--least", "40%", "--python", sys.executable, "--format", "json",
    ]  # fmt: skip

    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as first:
        assert first.stderr is not None
        said = next(line for line in first.stderr if "3/8" in line)
        first.send_signal(signal.SIGINT)
        said += first.stderr.read()
    assert first.returncode == 130, said
    done = len(list(tmp_path.glob("dlprof_history/m/commits/*/cells/*.json")))
    second = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done == 2
    assert second.returncode == 0, second.stderr
    assert "1/6 " in second.stderr  # of the eight runs, two were over
    found = json.loads(second.stdout)
    assert problems("history", found) == []
    (change,) = found["changes"]
    assert (change["subject"], change["between"]) == ("print('commit 2')", 0)
    assert "fit_s" in [one["measure"] for one in change["measures"]]
    assert change["parts"][0]["path"] == "fit/input"
    assert 0.8e9 < change["parts"][0]["delta_ns"] < 1.6e9
    traced = next(tmp_path.glob("dlprof_history/m/commits/*/runs/*"))
    told = subprocess.run([*command[:3], "report", str(traced), "--json"], capture_output=True, text=True, check=True)
    assert problems("report", json.loads(told.stdout)) == []
    assert sum(one["measured"] for one in found["commits"]) < COMMITS
    assert git(repository.root, "status", "--porcelain") == before
    assert len(git(repository.root, "worktree", "list").splitlines()) == 1
