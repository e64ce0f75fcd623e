"""Children without end, an exec, what is killed or hangs: the script goes as bare, and nothing of ours grows or stays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration import runner

pytestmark = pytest.mark.integration

SAMPLER = """
    import os

    def sampler():
        '''Greatest memory (kB) of the sampler beside this process; None: there is none.'''
        for name in os.listdir("/proc"):
            try:
                words = open("/proc/%s/cmdline" % name).read().split(chr(0))
                status = open("/proc/%s/status" % name).read()
            except (OSError, ValueError):
                continue
            if "dlprof_probes.sidecar" in words and "PPid:\\t%d\\n" % os.getppid() in status:
                return int(status.partition("VmHWM:")[2].split()[0])
        return None
"""
MANY = """
    import os, subprocess, sys, time
    from beside import sampler

    def split(depth):
        for _ in range(2 if depth else 0):
            if not os.fork():
                split(depth - 1)
                os._exit(0)
        for _ in range(2 if depth else 0):
            os.wait()

    time.sleep(2)
    before = sampler()
    for _ in range(2000):
        pid = os.fork()
        if not pid:
            os._exit(0)
        os.waitpid(pid, 0)
    split(9)
    for _ in range(40):
        subprocess.run(["true"], check=True)
    with open(sys.argv[1], "w") as out:
        print(before, sampler(), file=out)
    print("over", flush=True)  # what is not written yet is lost where another program takes its place
    os.execv("/bin/sh", ["sh", "-c", "echo replaced; exit 6"])
"""


def test_the_sampler_does_not_grow_with_thousands_of_children(tmp_path: Path) -> None:
    """2,000 short-lived ones, a fork bomb that ends, and then another program in the script's place."""
    runner.write(tmp_path, "beside.py", SAMPLER)
    runner.write(tmp_path, "many.py", MANY)
    bare = runner.run([sys.executable, "many.py", "bare.txt"], cwd=tmp_path)

    done = runner.trace("many.py", "--follow", "--", "traced.txt", cwd=tmp_path)

    assert (done.code, done.out) == (bare.code, bare.out) == (6, "over\nreplaced\n"), done.err
    before_kb, after_kb = (int(word) for word in (tmp_path / "traced.txt").read_text().split())
    assert after_kb < 200_000
    assert after_kb - before_kb < 50_000
    told = runner.report(tmp_path)
    assert len(told["processes"]) <= 200
    assert "program-replaced" in {line["slug"] for line in told["health"]}
    assert not _left(tmp_path)


def test_a_worker_that_is_killed_and_one_that_hangs_at_exit_keep_their_ends(tmp_path: Path) -> None:
    """The script sees what it would have seen; neither stays."""
    runner.write(
        tmp_path,
        "pool.py",
        """
        import multiprocessing, os, signal, threading, time

        def wait():
            time.sleep(600)

        def hang():
            threading.Thread(target=time.sleep, args=(3,)).start()

        if __name__ == "__main__":
            made = [multiprocessing.get_context("fork").Process(target=target) for target in (wait, hang)]
            for one in made:
                one.start()
            time.sleep(1)
            os.kill(made[0].pid, signal.SIGKILL)
            for one in made:
                one.join()
            print([one.exitcode for one in made])
        """,
    )

    done = runner.trace("pool.py", "--follow", cwd=tmp_path)

    assert (done.code, done.out) == (0, "[-9, 0]\n"), done.err
    assert all(one["end_ns"] is not None for one in runner.report(tmp_path)["processes"] if one["role"] == "worker")
    assert not _left(tmp_path)


def _left(folder: Path) -> str:
    """Processes that have the folder on their command line."""
    return subprocess.run(["pgrep", "-af", str(folder)], capture_output=True, text=True, check=False).stdout
