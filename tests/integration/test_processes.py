"""Processes below the script, of real multiprocessing, and a process that runs already."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration import runner

pytestmark = pytest.mark.integration

WORKERS = """
    import multiprocessing, os, signal, subprocess, sys, time

    def crunch(seconds, busy=None):
        while time.process_time() < seconds:  # of its CPU: a busy machine starts it late and runs it slowly
            sum(range(5000))
            if busy is not None and time.process_time() > 2:
                busy.set()

    def hang(seconds):
        import threading
        threading.Thread(target=time.sleep, args=(seconds,)).start()

    if __name__ == "__main__":
        ctx = multiprocessing.get_context(sys.argv[1])
        busy = ctx.Event()
        made = [ctx.Process(target=crunch, args=(3,), name="cruncher-%d" % n) for n in range(2)]
        made.append(ctx.Process(target=crunch, args=(60, busy), name="killed-0"))
        made.append(ctx.Process(target=hang, args=(2,), name="hanging-0"))
        for one in made:
            one.start()
        busy.wait()
        os.kill(made[2].pid, signal.SIGKILL)
        for one in made:
            one.join()
        print([one.exitcode for one in made])
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_have_names_figures_and_lines(tmp_path: Path, method: str) -> None:
    """Also one that was killed, and one that hangs at its exit; however they are started."""
    runner.write(tmp_path, "work.py", WORKERS)

    done = runner.trace("work.py", "--", method, cwd=tmp_path)

    assert (done.code, done.out) == (0, "[0, 0, -9, 0]\n"), done.err
    told = runner.report(tmp_path)
    workers = {one["name"]: one for one in told["processes"] if one["role"] == "worker"}
    assert set(workers) == {"cruncher-0", "cruncher-1", "killed-0", "hanging-0"}
    for name in ("cruncher-0", "cruncher-1", "killed-0"):
        assert workers[name]["cpu_ns"] > 0
        assert workers[name]["top"][0]["file"] == "work.py"
        assert workers[name]["end_ns"] is not None
    main = told["processes"][0]
    assert (main["role"], main["name"]) == ("main", "work.py")
    assert {line["process"] for line in told["lines"] if line["how"] == "sampled"} >= {"cruncher", "killed"}
    assert "crunch" not in {frame["function"] for stack in told["stacks"] for frame in stack["frames"]}


def test_workers_of_a_data_loader_have_its_names(tmp_path: Path) -> None:
    """With the lines of the user's data set, and the numbers that PyTorch gives them."""
    runner.write(
        tmp_path,
        "load.py",
        """
        import time
        import torch
        from torch.utils.data import DataLoader, Dataset

        class Slow(Dataset):
            def __len__(self):
                return 64

            def __getitem__(self, index):
                end = time.monotonic() + 0.1
                while time.monotonic() < end:
                    sum(range(1000))
                return torch.zeros(3)

        if __name__ == "__main__":
            print(sum(len(batch) for batch in DataLoader(Slow(), batch_size=4, num_workers=2)))
        """,
    )

    done = runner.trace("load.py", "--backend", "torch", cwd=tmp_path)

    assert (done.code, done.out) == (0, "64\n"), done.err
    workers = {one["name"]: one for one in runner.report(tmp_path)["processes"] if one["role"] == "worker"}
    assert set(workers) == {"DataLoader worker 0", "DataLoader worker 1"}
    assert {one["top"][0]["file"] for one in workers.values()} == {"load.py"}
    rows = runner.sql(tmp_path, "SELECT DISTINCT pid FROM lines WHERE how = 'sampled' AND function LIKE '%__getitem__'")
    assert {row["pid"] for row in rows} == {one["pid"] for one in workers.values()}


def test_two_thousand_short_lived_children_and_a_bomb_that_ends(tmp_path: Path) -> None:
    """What is not in a process's own figures is said."""
    runner.write(
        tmp_path,
        "many.py",
        """
        import os

        def split(depth):
            for _ in range(2 if depth else 0):
                if not os.fork():
                    split(depth - 1)
                    os._exit(0)
            for _ in range(2 if depth else 0):
                os.wait()

        for _ in range(2000):
            pid = os.fork()
            if not pid:
                os._exit(0)
            os.waitpid(pid, 0)
        split(8)
        print("over")
        """,
    )

    done = runner.trace("many.py", cwd=tmp_path)

    assert (done.code, done.out) == (0, "over\n"), done.err
    told = runner.report(tmp_path)
    assert told["processes"][0]["role"] == "main"
    assert "children-unseen" in {line["slug"] for line in told["health"]}
    assert (tmp_path / "run/raw/cores.jsonl").stat().st_size < 5_000_000


def test_a_process_that_runs_already_is_looked_at_with_its_workers(tmp_path: Path) -> None:
    """It goes on after that, and ends as without."""
    runner.write(
        tmp_path,
        "serve.py",
        """
        import multiprocessing, sys

        def crunch():
            while True:
                sum(range(5000))

        if __name__ == "__main__":
            worker = multiprocessing.get_context("fork").Process(target=crunch)
            worker.start()
            print("on", flush=True)
            sys.stdin.readline()
            worker.terminate()
            worker.join()
            print(worker.exitcode)
        """,
    )
    target = subprocess.Popen(
        [sys.executable, "serve.py"], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert target.stdout is not None
    target.stdout.readline()

    flags = ["attach", str(target.pid), "--seconds", "4", "-o", "run", "--no-report"]
    done = runner.run([*runner.DLPROF, *flags], cwd=tmp_path)

    assert (done.code, target.poll()) == (0, None), done.err
    assert target.communicate("\n")[0] == "-15\n"
    told = runner.report(tmp_path)
    main, worker = told["processes"]
    assert (main["pid"], main["role"], main["name"].rpartition("/")[2]) == (target.pid, "main", "serve.py")
    assert (worker["parent_pid"], worker["role"], worker["top"][0]["file"]) == (target.pid, "worker", "serve.py")
    assert worker["cpu_ns"] > main["cpu_ns"]
