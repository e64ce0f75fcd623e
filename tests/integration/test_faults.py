"""Bad input, and things that go wrong half-way: one clear sentence, nothing lost, nothing left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.integration import runner
from tests.integration.terminal import OnTerminal

pytestmark = pytest.mark.integration

SLEEPER = """
    import pathlib, sys, time
    pathlib.Path("began").write_text("")
    for _ in range(600):
        time.sleep(0.05)
"""
WAITER = """
    import pathlib, time
    pathlib.Path("began").write_text("")
    while not pathlib.Path("enough").exists():
        time.sleep(0.05)
    time.sleep(0.5)
    print("done")
"""


@pytest.mark.parametrize(
    ("flags", "code", "sentence"),
    [
        (["missing.py"], 66, "There is no script missing.py."),
        (["folder"], 64, "folder is a folder, not a script."),
        ([], 64, "There is no script to trace."),
        (["ok.py", "--backend", "mxnt"], 64, "There is no backend mxnt; did you mean mxnet?"),
        (["ok.py", "--probes", "corse"], 64, "There is no probe corse; did you mean cores?"),
        (["ok.py", "--python", "no/such/python"], 66, "There is no interpreter no/such/python."),
        (["ok.py", "--python", "ok.py"], 64, "ok.py is not a working Python interpreter."),
        (["ok.py", "-o", "full"], 73, "The output folder full exists and is not empty."),
        (["ok.py", "-o", "file"], 73, "The output folder file exists and is not empty."),
        (["ok.py", "--cores-hz", "0"], 64, "cores_hz from command line must lie between"),
        (["ok.py", "--epochs", "3"], 64, "the script's own arguments come after --"),
    ],
)
def test_bad_input_is_refused_before_the_script_starts(
    flags: list[str], code: int, sentence: str, tmp_path: Path
) -> None:
    """One sentence and a documented exit code; the script has not run."""
    runner.write(tmp_path, "ok.py", "open('ran', 'w').close()")
    (tmp_path / "folder").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    (tmp_path / "file").write_text("")

    done = runner.run([*runner.DLPROF, "trace", *flags], cwd=tmp_path)

    assert sentence in done.err
    assert done.code == code
    assert not (tmp_path / "ran").exists()
    assert "Traceback" not in done.err


def test_an_unknown_command_is_refused_with_the_nearest_one(tmp_path: Path) -> None:
    """`dlprof repot` suggests report."""
    done = runner.run([*runner.DLPROF, "repot"], cwd=tmp_path)

    assert done.code == 64
    assert "did you mean report?" in done.err


def test_an_interpreter_without_keras_is_warned_of_and_used(tmp_path: Path) -> None:
    """The script runs all the same: it may not need Keras, though it names it."""
    runner.write(tmp_path, "script.py", "print('ran')  # without keras")

    done = runner.trace("script.py", cwd=tmp_path)

    assert done.out == "ran\n"
    assert "there is no Keras in" in done.err


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount a small file system")
def test_a_full_disk_ends_the_probes_not_the_script(tmp_path: Path) -> None:
    """The script runs to its end and keeps its exit code."""
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(small)], check=False, capture_output=True
    ).returncode:
        pytest.skip("tmpfs cannot be mounted here")
    try:
        runner.write(
            tmp_path,
            "script.py",
            f"""
            import time
            open({str(small / "filler")!r}, 'wb').write(bytes(280_000))
            try:
                open({str(small / "filler2")!r}, 'wb').write(bytes(900_000))
            except OSError:
                print('full')
            def f(): pass
            time.sleep(1.5)
            print('done')
            raise SystemExit(5)
            """,
        )
        done = runner.run([*runner.DLPROF, "trace", "script.py", "-o", str(small / "run"), "--no-report"], cwd=tmp_path)
        content = runner.report(small)
    finally:
        subprocess.run(["umount", str(small)], check=True)

    assert done.out == "full\ndone\n"
    assert done.code == 5
    assert "No space left on device" in "".join(entry["message"] for entry in content["health"])
    cores = next(probe for probe in content["probes"] if probe["name"] == "cores")
    assert cores["reason"] in ("the disk was full", "cannot write: No space left on device")
    assert "Traceback" not in done.err


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="needs a user that is not root")
def test_a_read_only_output_folder_is_refused(tmp_path: Path) -> None:
    """One sentence, before the script starts."""
    runner.write(tmp_path, "ok.py", "open('ran', 'w').close()")

    done = runner.run([*runner.DLPROF, "trace", "ok.py", "-o", "/proc/run"], cwd=tmp_path)

    assert done.code == 73
    assert "Cannot write to /proc/run" in done.err


def test_one_interrupt_is_the_scripts_and_what_there_is_gets_reported(tmp_path: Path) -> None:
    """The script handles Ctrl-C itself; dlprof ends with its exit code and a whole run."""
    runner.write(
        tmp_path,
        "script.py",
        """
        import pathlib, time
        pathlib.Path("began").write_text("")
        try:
            time.sleep(30)
        except KeyboardInterrupt:
            print("stopped politely")
            raise SystemExit(9)
        """,
    )
    background = runner.Background("script.py", cwd=tmp_path)
    background.wait_for("began")
    others = background.others()

    background.signal_group()
    done = background.end()

    assert done.out == "stopped politely\n"
    assert done.code == 9
    assert runner.all_gone(others)
    assert runner.report(tmp_path)["state"] == "interrupted"


def test_an_unhandled_interrupt_ends_as_in_plain_python(tmp_path: Path) -> None:
    """The exit code is 130, and the traceback is the script's alone."""
    runner.write(tmp_path, "script.py", SLEEPER)
    background = runner.Background("script.py", cwd=tmp_path)
    background.wait_for("began")

    background.signal_group()
    done = background.end()

    assert done.code == 130
    assert "KeyboardInterrupt" in done.err
    assert "dlprof_probes" not in done.err


def test_a_second_interrupt_ends_a_script_that_does_not_listen(tmp_path: Path) -> None:
    """The script and the worker it started are gone; the run opens."""
    runner.write(
        tmp_path,
        "script.py",
        """
        import pathlib, signal, subprocess, sys, time
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(2, signal.SIG_IGN); time.sleep(60)"])
        time.sleep(0.5)
        pathlib.Path("began").write_text("")
        time.sleep(60)
        """,
    )
    shown = OnTerminal([*runner.DLPROF, "trace", "script.py", "-o", "run", "--no-report"], cwd=tmp_path)
    shown.wait_for(lambda _screen: (tmp_path / "began").exists())
    others = psutil.Process(shown.pid).children(recursive=True)

    shown.type(b"\x03")
    time.sleep(0.5)  # two at once would be one: signals of a kind are not queued
    shown.type(b"\x03")
    code = shown.end()

    assert code == 128 + signal.SIGKILL
    assert runner.all_gone(others)
    assert runner.report(tmp_path)["exit"]["signal"] == signal.SIGKILL


def test_a_signal_to_dlprof_alone_reaches_the_script(tmp_path: Path) -> None:
    """SIGTERM sent to dlprof ends the script, and all sidecars with it."""
    runner.write(tmp_path, "script.py", SLEEPER)
    background = runner.Background("script.py", cwd=tmp_path)
    background.wait_for("began")
    others = background.others()

    background.process.send_signal(signal.SIGTERM)
    done = background.end()

    assert done.code == 128 + signal.SIGTERM
    assert runner.all_gone(others)


def test_killing_dlprof_leaves_no_process_and_a_run_that_opens(tmp_path: Path) -> None:
    """Kill -9 of dlprof: the script and the sidecars end; the report says what is missing."""
    runner.write(tmp_path, "script.py", SLEEPER)
    background = runner.Background("script.py", cwd=tmp_path)
    background.wait_for("began")
    others = background.others()

    background.process.kill()
    background.end()

    assert len(others) >= 3
    assert runner.all_gone(others)
    content = runner.report(tmp_path)
    assert content["state"] == "running"
    assert "dlprof-killed" in [entry["slug"] for entry in content["health"]]


def test_killing_the_sampler_loses_no_more_than_its_samples(tmp_path: Path) -> None:
    """Kill -9 of the sampler: the script's result stands, the report says what is cut."""
    runner.write(tmp_path, "script.py", WAITER)
    background = runner.Background("script.py", cwd=tmp_path)
    background.wait_for("began")

    background.one("dlprof_probes.sidecar").kill()
    (tmp_path / "enough").touch()
    done = background.end()

    assert (done.out, done.code) == ("done\n", 0)
    content = runner.report(tmp_path)
    cores = next(probe for probe in content["probes"] if probe["name"] == "cores")
    assert cores["state"] == "failed"
    assert "signal 9" in cores["reason"]


def test_killing_py_spy_loses_no_more_than_its_stacks(tmp_path: Path) -> None:
    """Kill -9 of py-spy: the script's result stands, the report says that stacks are lost."""
    runner.write(tmp_path, "script.py", WAITER)
    background = runner.Background("script.py", cwd=tmp_path)
    background.wait_for("began")

    background.one("py-spy").kill()
    (tmp_path / "enough").touch()
    done = background.end()

    assert (done.out, done.code) == ("done\n", 0)
    stacks = next(probe for probe in runner.report(tmp_path)["probes"] if probe["name"] == "stacks")
    assert stacks["reason"] == "py-spy was killed by signal 9; its last segment is lost"


def test_a_refused_py_spy_is_reported_with_its_reason(tmp_path: Path) -> None:
    """A py-spy without the right to look at the process is no failure of the run."""
    runner.write(
        tmp_path,
        "script.py",
        """
        import pathlib, time
        while not pathlib.Path("asked").exists():
            time.sleep(0.05)
        time.sleep(0.5)
        print("done")
        """,
    )
    tools = tmp_path / "bin"
    tools.mkdir()
    fake = tools / "py-spy"
    fake.write_text(
        f"#!/bin/sh\ntouch {tmp_path}/asked\n"
        "echo 'Error: Permission Denied: Try running again with elevated permissions' >&2\nexit 1\n"
    )
    fake.chmod(0o755)
    code = """if True:
        import sys
        from dlprof.__main__ import main
        from dlprof_probes.sidecar import stacks
        fake = sys.argv.pop(1)
        stacks.find = lambda: fake
        sys.exit(main())
    """

    done = runner.run(
        [sys.executable, "-c", code, str(fake), "trace", "script.py", "-o", "run", "--no-report"], cwd=tmp_path
    )

    assert (done.out, done.code) == ("done\n", 0)
    stacks = next(probe for probe in runner.report(tmp_path)["probes"] if probe["name"] == "stacks")
    assert stacks["state"] == "unavailable"
    assert "ptrace" in stacks["reason"]


def test_processes_that_outlive_the_script_are_named_and_left_alone(tmp_path: Path) -> None:
    """A server that the script started in the background goes on, as without dlprof."""
    runner.write(
        tmp_path,
        "script.py",
        """
        import subprocess, sys
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(20)"], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, start_new_session=True)
        print(child.pid)
        """,
    )

    done = runner.trace("script.py", cwd=tmp_path)

    pid = int(done.out)
    os.kill(pid, signal.SIGKILL)
    health = [entry for entry in runner.report(tmp_path)["health"] if entry["slug"] == "processes-left"]
    assert str(pid) in health[0]["message"]


def test_a_trace_function_of_the_scripts_own_ends_line_profiling_with_a_note(tmp_path: Path) -> None:
    """The report does not pretend that the lines after it were measured."""
    runner.write(tmp_path, "script.py", "import sys\nsys.settrace(lambda *a: None)\nx = 1\n")

    runner.trace("script.py", cwd=tmp_path)

    assert "line-profiling-stopped" in [entry["slug"] for entry in runner.report(tmp_path)["health"]]


@pytest.mark.parametrize("name", ["nothing", "runs/x"])
def test_a_run_that_is_not_there_is_said_to_be_missing(name: str, tmp_path: Path) -> None:
    """Every command that takes a run has the same sentence."""
    for command in ("report", "lines", "sql"):
        done = runner.run([*runner.DLPROF, command, name], cwd=tmp_path)
        assert (done.code, done.err.splitlines()[0]) == (66, f"dlprof: error: There is no run {name}.")


def test_a_damaged_manifest_is_refused(tmp_path: Path) -> None:
    """Half a manifest is bad data, not a crash."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "manifest.json").write_text('{"format": "dlprof.run/1", ')

    done = runner.run([*runner.DLPROF, "report", "run"], cwd=tmp_path)

    assert done.code == 4
    assert "cannot be read" in done.err


def test_a_run_that_goes_on_can_be_looked_at(tmp_path: Path) -> None:
    """Figures so far, and a note; the run itself is not disturbed."""
    script = """
        import pathlib, time
        pathlib.Path("began").write_text("")
        while not pathlib.Path("looked").exists():
            time.sleep(0.05)
        print("done")
        """
    runner.write(tmp_path, "script.py", script)
    background = runner.Background("script.py", cwd=tmp_path)
    background.wait_for("began")

    during = runner.report(tmp_path)
    (tmp_path / "looked").touch()
    done = background.end()

    assert "still-running" in [entry["slug"] for entry in during["health"]]
    assert (done.out, done.code) == ("done\n", 0)
    after = runner.report(tmp_path)
    assert after["state"] == "finished"
    assert [entry for entry in after["health"] if entry["severity"] != "info"] == []


def test_a_forked_child_that_ends_in_python_leaves_the_parents_counts_alone(tmp_path: Path) -> None:
    """The child runs `work` five times more; the parent's two calls are what is counted."""
    runner.write(
        tmp_path,
        "script.py",
        """
        import os
        def work():
            return 1
        work()
        pid = os.fork()
        if pid == 0:
            for _ in range(5):
                work()
            raise SystemExit(0)
        os.wait()
        work()
        """,
    )

    runner.trace("script.py", cwd=tmp_path)

    rows = runner.sql(tmp_path, "SELECT hits FROM lines WHERE function = 'work' AND hits > 0")
    assert rows == [{"hits": 2}]


def test_a_run_that_cannot_be_stored_for_want_of_memory_ends_as_the_script(tmp_path: Path) -> None:
    """What makes the tables is loaded after the script, and takes more memory than a small script may have."""
    runner.write(tmp_path, "short.py", "raise SystemExit(3)")
    command = f"ulimit -v 150000; exec {sys.executable} -m dlprof trace short.py"

    ended = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert ended.returncode == 3
    assert "the run could not be stored: " in ended.stderr
