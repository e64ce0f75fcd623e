"""Streams, descriptors and folders: the script has what it would have without dlprof, whatever becomes of dlprof's."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from tests.integration import runner

pytestmark = pytest.mark.integration

TRACE = shlex.join([*runner.DLPROF, "trace", "script.py", "-o", "run"])
BARE = shlex.join([sys.executable, "script.py"])


def shell(folder: Path, line: str) -> runner.Result:
    """A line in bash."""
    return runner.run(["bash", "-c", line], cwd=folder)


@pytest.mark.parametrize("redirected", ["2>/dev/full", "2> >(head -1 >/dev/null)", "2>&-", "<&-", "2>&- <&-"])
def test_broken_streams_of_dlprof_leave_the_exit_code_the_scripts(redirected: str, tmp_path: Path) -> None:
    """Its output too."""
    runner.write(tmp_path, "script.py", "import time; print('out', flush=True); time.sleep(0.5); raise SystemExit(5)")

    done = shell(tmp_path, f"{TRACE} {redirected}")

    assert (done.out, done.code) == ("out\n", 5)
    assert runner.report(tmp_path)["exit"]["code"] == 5


def test_open_descriptors_and_closed_streams_are_those_of_a_bare_start(tmp_path: Path) -> None:
    """A log at 3, a command's output at a number of the shell's choice, no standard input; children of it see the same."""
    runner.write(
        tmp_path,
        "script.py",
        """
        import os, subprocess, sys
        os.write(3, b"to the log")
        print(open(sys.argv[1]).read())
        def names():
            found = []
            for number in range(1000):
                try:
                    found.append((number, os.readlink("/proc/self/fd/%d" % number).split(":")[0]))
                except OSError:
                    pass
            return found
        print([one for one in names() if one[0] > 2 and os.get_inheritable(one[0])], sys.stdin)
        child = "import os; print(sorted(int(name) for name in os.listdir('/proc/self/fd')))"
        print(subprocess.run([sys.executable, "-c", child], close_fds=False, stdout=subprocess.PIPE).stdout)
        """,
    )

    bare = shell(tmp_path, f"{BARE} <(echo hello) 3>log <&-")
    logs = [(tmp_path / "log").read_text()]
    under = shell(tmp_path, f"{TRACE} --no-report -- <(echo hello) 3>log <&-")
    logs.append((tmp_path / "log").read_text())

    assert bare.code == under.code == 0
    assert under.out == bare.out
    assert "hello" in under.out
    assert logs == ["to the log", "to the log"]


@pytest.mark.parametrize(
    ("redirected", "code", "sentence"),
    [
        (">/dev/full", 73, "Standard output cannot be written to: no space left on device."),
        (">&-", 73, "Standard output cannot be written to: bad file descriptor."),
        ("| true", 141, ""),
    ],
)
def test_an_output_that_takes_nothing_ends_other_commands_without_a_traceback(
    redirected: str, code: int, sentence: str, tmp_path: Path
) -> None:
    """A sentence and a code; none where the reader has gone."""
    words = shlex.join([*runner.DLPROF, "help", "glossary"])

    done = shell(tmp_path, f"{words} {redirected}; exit ${{PIPESTATUS[0]}}")

    assert done.code == code
    assert done.err == (f"dlprof: error: {sentence}\n" if sentence else "")


def test_a_run_folder_that_is_removed_costs_the_report_and_nothing_else(tmp_path: Path) -> None:
    """The script that removes it ends as ever."""
    runner.write(
        tmp_path,
        "script.py",
        "import shutil, time; time.sleep(1); shutil.rmtree('run'); time.sleep(1); print('end'); raise SystemExit(7)",
    )

    done = shell(tmp_path, TRACE)

    assert (done.out, done.code) == ("end\n", 7)
    assert "the run could not be stored: Cannot write to" in done.err
    assert "Its folder was removed meanwhile." in done.err
    assert "internal error" not in done.err


@pytest.mark.parametrize(
    ("folder", "sentence"),
    [
        ("a" * 300, "file name too long"),
        ("$'bad\\xff'", "The name of the output folder bad? is not UTF-8."),
        ("script.py/run", "Cannot write to script.py/run"),
        ("/proc/run", "Cannot write to /proc/run"),
    ],
    ids=["long", "bytes", "file", "read-only"],
)
def test_a_folder_that_cannot_be_made_is_a_sentence_before_the_script_starts(
    folder: str, sentence: str, tmp_path: Path
) -> None:
    """Code 73."""
    runner.write(tmp_path, "script.py", "print('ran')")

    done = shell(tmp_path, f"{shlex.join([*runner.DLPROF, 'trace', 'script.py'])} -o {folder}")

    assert (done.out, done.code) == ("", 73)
    assert sentence in done.err
    assert "internal error" not in done.err


def test_a_removed_current_folder_is_a_sentence(tmp_path: Path) -> None:
    """Code 66."""
    script = runner.write(tmp_path, "script.py", "print('ran')")
    words = shlex.join([*runner.DLPROF, "trace", str(script), "-o", str(tmp_path / "run")])

    done = shell(tmp_path, f"mkdir gone; cd gone; rmdir ../gone; exec {words}")

    assert (done.out, done.code) == ("", 66)
    assert "dlprof: error: The current folder was removed." in done.err


def test_arguments_and_names_need_not_be_utf_8(tmp_path: Path) -> None:
    """Bytes reach the script as they are."""
    runner.write(tmp_path, "script.py", "import sys; print(ascii(sys.argv))")
    line = "cp script.py $'b\\xff.py'; {} $'b\\xff.py' {} $'\\xfe'"

    bare = shell(tmp_path, line.format(sys.executable, ""))
    under = shell(tmp_path, line.format(shlex.join([*runner.DLPROF, "trace", "-o", "run", "--no-report"]), "--"))

    assert bare.code == under.code == 0
    assert under.out == bare.out
    assert runner.report(tmp_path)["exit"]["code"] == 0


@pytest.mark.parametrize("change", ["env -u HOME", "env HOME=/nonexistent TMPDIR=/nonexistent"])
def test_a_home_or_a_folder_for_temporary_files_that_is_not_there_is_no_matter(change: str, tmp_path: Path) -> None:
    """The script runs, and the report is printed."""
    runner.write(tmp_path, "script.py", "print('ran')")

    done = shell(tmp_path, f"{change} {TRACE}")

    assert (done.out, done.code) == ("ran\n", 0)
    assert "Phases" in done.err


def test_a_script_that_replaces_itself_is_told_of_and_its_exit_code_kept(tmp_path: Path) -> None:
    """By the program that it went on as."""
    runner.write(
        tmp_path,
        "script.py",
        "import os, time; time.sleep(1); os.execv('/bin/sh', ['sh', '-c', 'sleep 2; echo second; exit 9'])",
    )

    done = shell(tmp_path, f"{TRACE} --no-report")
    content = runner.report(tmp_path)

    assert (done.out, done.code) == ("second\n", 9)
    assert content["process"]["replaced_by"] == str(Path("/bin/sh").resolve())
    assert "script-replaced" in [entry["slug"] for entry in content["health"]]
