"""What dlprof can do on other systems than Linux."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from dlprof.cli import doctor
from dlprof.errors import UnavailableError
from dlprof.launch import system
from tests.unit.runs import dlprof, trained

MAC = """
    # A Mac as far as Python shows one: no /proc, and no functions that only Linux has.
    import os, signal, sys

    for module, names in ((os, ("sched_getaffinity", "sched_setaffinity", "pidfd_open", "posix_fadvise", "memfd_create")),
                          (signal, ("sigtimedwait", "sigwaitinfo", "pidfd_send_signal", "SIGSTKFLT", "SIGPWR", "SIGPOLL"))):
        for name in names:
            if hasattr(module, name):
                delattr(module, name)

    def no_proc(event, args):
        if event == "open" and isinstance(args[0], (str, bytes)) and os.fsdecode(args[0]).startswith("/proc"):
            raise FileNotFoundError(2, "No such file or directory", args[0])

    import pyarrow, numpy, msgspec, duckdb, rich, psutil, types  # built for this system
    psutil.virtual_memory = lambda: types.SimpleNamespace(total=8 << 30, available=4 << 30)  # asks a Mac otherwise
    from dlprof.store import run
    run._DESCRIPTORS = "/dev/fd"
    sys.platform = "darwin"
    sys.addaudithook(no_proc)
    from dlprof.__main__ import main
    codes = []
    for line in sys.argv[1:]:
        sys.argv[1:] = line.split()
        codes.append(main())
    print(codes, file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("trace", ["train.py"]),
        ("attach", ["4711"]),
        ("exam", []),
        ("bench", ["matrix.toml"]),
        ("backends install", ["mxnet"]),
        ("doctor --measure", []),
    ],
)
def test_what_needs_linux_says_so_in_a_sentence(
    command: str, more: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the exit code of what is not there, and what works."""
    monkeypatch.setattr(sys, "platform", "darwin")

    assert dlprof(*command.split(), *more) == 69

    reason = "It starts and watches processes through interfaces of Linux, and this is macOS."
    assert capsys.readouterr().err.splitlines() == [
        f"dlprof: error: dlprof {command} does not work on this machine. {reason}",
        f"  try: {system.EVERYWHERE}",
    ]


def test_a_cell_of_a_notebook_needs_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it is run."""
    from dlprof.config import TraceConfig
    from dlprof.pipeline import trace

    monkeypatch.setattr(sys, "platform", "win32")

    with pytest.raises(UnavailableError, match="%%dlprof does not work on this machine.*this is Windows"):
        trace.trace_cell(TraceConfig(), None)  # type: ignore[arg-type]


def test_the_doctor_says_what_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Linux it has no word of it."""
    assert doctor._system() == []

    monkeypatch.setattr(sys, "platform", "darwin")

    (check,) = doctor._system()
    assert (check.name, check.state, check.mend) == ("system", "broken", system.EVERYWHERE)


@pytest.mark.slow
def test_runs_that_were_made_elsewhere_can_be_looked_at(tmp_path: Path) -> None:
    """Without /proc, and without what only Linux has."""
    for name in "ab":
        trained(tmp_path / name)
    commands = [
        "report a", "report a --json", "compare a b", "diagnose a", "view a --no-open", "export a --to perfetto -o t",
        "lines a", "kernels a", "memory a", "runs .", "redact a -o c", "gate a b", "demo", "scenarios copy mlp",
        "report dlprof-demo/mxnet --full", "backends list", "trace x.py",
    ]  # fmt: skip

    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MAC), *commands],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stderr.splitlines()[-1] == str([0] * 16 + [69]), done.stderr
    assert "Traceback" not in done.stderr
