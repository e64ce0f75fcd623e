"""Programs that start Python: those that load an engine are traced as runs of their own, and nobody else is disturbed.

The engine is a stand-in of that name beside the scripts: what is shown here is how processes are followed.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.integration import runner

pytestmark = pytest.mark.integration

_TELLS_ENDS = tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2]) >= (6, 15)
SIGNALLED = {"signalled": ("signalled", None), **({} if _TELLS_ENDS else {"unknown": ("unknown", None)})}
"""What may be said of one that a signal ended: a kernel before 6.15 tells it only as long as its parent has not asked."""
TRAIN = """
    import os, sys, time
    print(sys.argv[1:], os.environ.get("PYTHONPATH"), [name for name in sys.path if "dlprof" in name], flush=True)
    import chainer
    how = sys.argv[1]
    if how == "exec":
        os.execv(sys.executable, [sys.executable, "train.py", "4"])
    if how == "signal":
        time.sleep(2)
        os.kill(os.getpid(), 15)
    if how == "hang":
        import threading
        threading.Thread(target=time.sleep, args=(2,)).start()
        how = "0"
    if how == "raise":
        raise ValueError("of the script")
    if how == "service":
        os.setsid()
        open("ready", "w").close()
        while not os.path.exists("over"):
            time.sleep(0.05)
        how = "0"
    sys.exit(int(how))
"""
PLAIN = """
    import os, sys
    print("plain", os.environ.get("PYTHONPATH"), "dlprof" in "".join(sys.path), flush=True)
"""


def _write(folder: Path) -> None:
    (folder / "chainer.py").write_text('__version__ = "0"\n')
    runner.write(folder, "train.py", TRAIN)
    runner.write(folder, "plain.py", PLAIN)


def _exec(folder: Path, *command: str) -> tuple[runner.Result, runner.Result, dict[str, Any]]:
    """A program bare, then followed, and what its run says of what was followed."""
    bare = runner.run([*command], cwd=folder)
    traced = runner.run([*runner.DLPROF, "trace", "-o", "run", "--no-report", "--exec", "--", *command], cwd=folder)
    return bare, traced, runner.report(folder)["followed"]


def _without_ours(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("dlprof: "))


def _without_numbers(text: str) -> str:
    """Bash tells the number of a process that a signal ended."""
    return re.sub(r"(run.sh: line \d+:) +\d+ ", r"\1 ", text)


def test_a_shell_script_goes_as_bare_and_its_trainings_are_runs(tmp_path: Path) -> None:
    """Streams, tracebacks, exit codes; other Pythons, isolated ones and those that see no `site` are left alone."""
    _write(tmp_path)
    script = "\n".join(
        f"{sys.executable} {words}; echo $?"
        for words in ("plain.py", "train.py 0", "train.py raise", "train.py exec", "train.py signal", "-I train.py 1")
    )
    (tmp_path / "run.sh").write_text(f"{script}\nexit 3\n")

    bare, traced, followed = _exec(tmp_path, "bash", "run.sh")

    assert (bare.code, traced.code) == (3, 3), traced.err
    ours = str(tmp_path / "run/payload/follow")
    assert traced.out.replace(f"['1'] {ours}", "['1'] None") == bare.out  # an isolated one sees the shell's environment
    assert _without_numbers(_without_ours(traced.err)) == _without_numbers(bare.err)
    runs = [(run["run"], run["ended"], run["exit_code"], run["signal"]) for run in followed["runs"]]
    assert runs == [
        ("children/001-train", "exited", 0, None),
        ("children/002-train", "exited", 1, None),
        ("children/003-train", "replaced", None, None),
        ("children/004-train", "exited", 4, None),
        ("children/005-train", *SIGNALLED[runs[-1][1]], 15 if runs[-1][1] == "signalled" else None),
    ]
    assert followed["pythons"] == 6
    told = runner.report(tmp_path, "run/children/001-train")
    assert (told["script"], told["exit"]["code"], told["arguments"]) == ("train.py", 0, ["0"])
    assert {"import", "script"} <= {phase["name"] for phase in told["phases"]}
    listed = json.loads(runner.run([*runner.DLPROF, "runs", "run", "--json"], cwd=tmp_path).out)
    assert len(listed["runs"]) == 5
    assert not (tmp_path / "run/payload").exists()
    shown = runner.run([*runner.DLPROF, "report", "run", "followed"], cwd=tmp_path)
    assert "children/005-train" in shown.out


def test_a_scripts_own_children_are_followed_if_that_is_asked_for(tmp_path: Path) -> None:
    """With an environment that the script makes itself; by default they are only seen from outside."""
    _write(tmp_path)
    runner.write(
        tmp_path,
        "drive.py",
        """
        import os, subprocess, sys
        print(os.environ.get("PYTHONPATH"))
        for env in (None, dict(os.environ, PYTHONPATH="/own")):
            print(subprocess.run([sys.executable, "train.py", "3"], env=env).returncode, flush=True)
        """,
    )
    bare = runner.run([sys.executable, "drive.py"], cwd=tmp_path)

    followed = runner.trace("drive.py", "--follow", cwd=tmp_path)

    assert (followed.code, followed.out) == (0, bare.out), followed.err
    told = runner.report(tmp_path)
    assert [(run["exit_code"], run["ended"]) for run in told["followed"]["runs"]] == [(3, "exited"), (3, "exited")]
    assert told["script"] == "drive.py"
    alone = runner.run([*runner.DLPROF, "trace", "drive.py", "-o", "alone", "--no-report"], cwd=tmp_path)
    assert (alone.code, alone.out) == (0, bare.out)
    assert runner.report(tmp_path, "alone")["followed"] is None


def test_a_sitecustomize_of_the_users_own_still_runs(tmp_path: Path) -> None:
    """Once, in each Python. Where it is in front of ours, the Pythons below are not followed."""
    _write(tmp_path)
    (tmp_path / "site").mkdir()
    (tmp_path / "site/sitecustomize.py").write_text("print('customized', __file__)\n")
    runner.write(tmp_path, "run.sh", f"export PYTHONPATH={tmp_path}/site:$PYTHONPATH\n{sys.executable} train.py 0\n")
    bare, traced, followed = _exec(tmp_path, "bash", "run.sh")
    assert traced.out.count("customized") == 1
    assert (traced.code, followed["runs"]) == (bare.code, [])

    env = {"PYTHONPATH": str(tmp_path / "site")}
    traced = runner.run(
        [*runner.DLPROF, "trace", "-o", "two", "--no-report", "--exec", "--", sys.executable, "train.py", "0"],
        cwd=tmp_path,
        env=env,
    )
    assert traced.out.count("customized") >= 1
    assert [run["exit_code"] for run in runner.report(tmp_path, "two")["followed"]["runs"]] == [0]


def test_more_than_are_followed_are_counted(tmp_path: Path) -> None:
    """Each of them goes as bare; the sampler's memory and files stay small."""
    _write(tmp_path)
    command = f"for i in $(seq 70); do {sys.executable} -S -c ''; {sys.executable} -c 'import chainer'; done; exit 7"
    (tmp_path / "run.sh").write_text(command)

    bare, traced, followed = _exec(tmp_path, "bash", "run.sh")

    assert (bare.code, traced.code, traced.out) == (7, 7, ""), traced.err
    assert (len(followed["runs"]), followed["pythons"], followed["not_followed"]) == (64, 70, 6)
    assert {run["exit_code"] for run in followed["runs"]} == {0}
    assert "not-followed" in {line["slug"] for line in runner.report(tmp_path)["health"]}


def test_one_that_hangs_at_exit_and_one_that_stays(tmp_path: Path) -> None:
    """The program's end is dlprof's; what it leaves running goes on, and nothing of ours is left."""
    _write(tmp_path)
    (tmp_path / "run.sh").write_text(
        f"{sys.executable} train.py hang\n{sys.executable} train.py service > /dev/null 2>&1 &\n"
        "while [ ! -e ready ]; do sleep 0.1; done; sleep 1\n"
    )
    traced = runner.run(
        [*runner.DLPROF, "trace", "-o", "run", "--no-report", "--exec", "--", "bash", "run.sh"], cwd=tmp_path
    )
    assert traced.code == 0, traced.err
    followed = runner.report(tmp_path)["followed"]
    assert [(run["ended"], run["exit_code"]) for run in followed["runs"]] == [("exited", 0), ("running", None)]
    (tmp_path / "over").touch()
    left = subprocess.run(["pgrep", "-f", str(tmp_path)], capture_output=True, text=True, check=False)
    assert "dlprof_probes.sidecar" not in left.stdout
    # It must have seen that before its folder is gone, or it would stay for good.
    while subprocess.run(["pgrep", "-f", "train.py service"], capture_output=True, check=False).returncode == 0:
        subprocess.run(["sleep", "0.1"], check=True)


def test_ctrl_c_reaches_all_of_them_as_without(tmp_path: Path) -> None:
    """And leaves a run of each."""
    _write(tmp_path)
    runner.write(
        tmp_path,
        "wait.py",
        """
        import chainer, time
        open("ready", "w").close()
        time.sleep(120)
        """,
    )
    process = subprocess.Popen(
        [*runner.DLPROF, "trace", "-o", "run", "--no-report", "--exec", "--", sys.executable, "wait.py"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    for _ in range(600):
        if (tmp_path / "ready").exists():
            break
        subprocess.run(["sleep", "0.1"], check=True)
    subprocess.run(["sleep", "1"], check=True)
    process.send_signal(signal.SIGINT)
    _out, err = process.communicate(timeout=60)

    assert process.returncode == 130, err
    assert "KeyboardInterrupt" in err
    followed = runner.report(tmp_path)["followed"]
    (run,) = followed["runs"]
    assert (run["ended"], run["exit_code"]) == SIGNALLED[run["ended"]]
    assert run["signal"] == (signal.SIGINT if run["ended"] == "signalled" else None)
