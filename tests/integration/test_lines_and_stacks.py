"""Line profiling and stack sampling on plain scripts: what is selected, and on which clock."""

from __future__ import annotations

import json
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dlprof.errors import DlprofError
from dlprof.launch import interpreters
from tests.integration import runner

pytestmark = pytest.mark.integration


def lines(folder: Path) -> list[dict[str, Any]]:
    """`dlprof lines run --json`."""
    return runner.asked("lines", "run", cwd=folder)  # type: ignore[no-any-return]


def hits(folder: Path) -> dict[tuple[str, str], int]:
    """Hits by function and source text."""
    return {(row["function"], (row["source"] or "").strip()): row["hits"] for row in lines(folder)}


def test_the_scripts_functions_and_its_own_code_are_counted(tmp_path: Path) -> None:
    """Nested functions, methods, closures and equal bodies are told apart."""
    runner.write(
        tmp_path,
        "script.py",
        """
        class A:
            def get(self):
                return 1
        class B:
            def get(self):
                return 1
        def outer(n):
            def inner(x):
                return x + n
            return [inner(i) for i in range(n)]
        A().get(); A().get()
        B().get()
        for i in range(3):
            outer(4)
        """,
    )

    runner.trace("script.py", cwd=tmp_path)

    found = hits(tmp_path)
    assert found["A.get", "return 1"] == 2
    assert found["B.get", "return 1"] == 1
    assert found["outer.<locals>.inner", "return x + n"] == 12
    assert found["<module>", "outer(4)"] == 3


def test_modules_beside_the_script_are_counted_and_installed_ones_are_not(tmp_path: Path) -> None:
    """Also in packages below the script's folder; not in a virtual environment that lies there."""
    for folder in ("package", "venv/lib/python3.11/site-packages"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "data.py").write_text("def load():\n    return 7\n")
    (tmp_path / "venv/lib/python3.11/site-packages/foreign.py").write_text("def load():\n    return 8\n")
    text = "import sys\nsys.path.append('venv/lib/python3.11/site-packages')\nimport foreign\nfrom package.data import load\nload()\nforeign.load()\n"
    (tmp_path / "script.py").write_text(text)

    runner.trace("script.py", cwd=tmp_path)

    assert {row["file"] for row in lines(tmp_path)} == {"script.py", "package/data.py"}


def test_lines_selects_other_modules(tmp_path: Path) -> None:
    """`--lines json.decoder` counts lines of the standard library's decoder."""
    runner.write(
        tmp_path,
        "script.py",
        "import json.decoder, importlib\nimportlib.reload(json.decoder).JSONDecoder().decode('[1]')\n",
    )

    runner.trace("script.py", "--lines", "json.decoder", cwd=tmp_path)

    assert hits(tmp_path)["JSONDecoder.decode", "return obj"] == 1


@pytest.mark.parametrize("header", ["", "from line_profiler import profile\n"], ids=["builtin", "imported"])
def test_the_profile_decorator_works_as_with_kernprof(header: str, tmp_path: Path) -> None:
    """With and without its import, also on a thread."""
    text = """
import threading
@profile
def work(n):
    total = 0
    for i in range(n):
        total += i
    return total
thread = threading.Thread(target=work, args=(10,))
thread.start()
thread.join()
print(work(5), work.__name__)
"""
    (tmp_path / "script.py").write_text(header + text)

    done = runner.trace("script.py", cwd=tmp_path)

    assert done.out == "10 work\n"
    assert hits(tmp_path)["work", "total += i"] == 15


def test_line_profiling_can_be_left_out(tmp_path: Path) -> None:
    """The report says that it was not asked for."""
    runner.write(tmp_path, "script.py", "x = 1\n")

    runner.trace("script.py", "--probes=-lines", cwd=tmp_path)

    assert lines(tmp_path) == []
    out = runner.run([*runner.DLPROF, "lines", "run"], cwd=tmp_path).out
    assert out == "No line was measured, because not asked for.\n"


@pytest.mark.measured
def test_stacks_are_on_the_runs_clock(tmp_path: Path) -> None:
    """A function that ran at a known time was sampled at that time, to a sample and py-spy's start, which is slow on a loaded machine."""
    runner.write(
        tmp_path,
        "script.py",
        """
        import time
        def busy():
            end = time.perf_counter() + 0.5
            while time.perf_counter() < end:
                pass
        time.sleep(1.0)
        start = time.perf_counter_ns()
        busy()
        print(start, time.perf_counter_ns())
        time.sleep(0.5)
        """,
    )

    done = runner.trace("script.py", "--stacks-hz", "100", cwd=tmp_path)

    start, end = (int(word) for word in done.out.split())
    origin = json.loads((tmp_path / "run" / "manifest.json").read_text())["clock"]["origin_perf_ns"]
    row = runner.sql(
        tmp_path,
        "SELECT min(start_ns) AS first, max(start_ns + dur_ns) AS last FROM stacks "
        "WHERE stack_id IN (SELECT stack_id FROM frames WHERE function = 'busy')",
    )[0]
    assert row["first"] + origin == pytest.approx(start, abs=150e6)
    assert row["last"] + origin == pytest.approx(end, abs=150e6)


OTHERS = [(3, minor) for minor in range(6, 16) if (3, minor) != sys.version_info[:2]]


@cache
def other_pythons() -> dict[tuple[int, int], str]:
    """One interpreter of each other version that is at hand; asked for when a test runs, for each is started."""
    found: dict[tuple[int, int], str] = {}
    for path in interpreters.candidates(os.environ):
        try:
            facts = interpreters.inspect(path)
        except DlprofError:
            continue
        if facts.implementation == "cpython" and facts.version[:2] != sys.version_info[:2]:
            found.setdefault(facts.version[:2], str(path))
    return found


@pytest.mark.parametrize("version", OTHERS, ids=lambda version: "%d.%d" % version)
def test_lines_are_counted_on_every_python_at_hand(version: tuple[int, int], tmp_path: Path) -> None:
    """From 3.6 on, without installing anything there; what line_profiler brings along stays unseen."""
    python = other_pythons().get(version)
    if python is None:
        pytest.skip("there is no Python %d.%d on this machine" % version)
    runner.write(
        tmp_path,
        "script.py",
        """
        import sys
        def work(n):
            total = 0
            for i in range(n):
                total += i
            return total
        print(work(3), work(4), "line_profiler-cp" in str(sys.modules.get("typing_extensions")))
        """,
    )

    done = runner.trace("script.py", "--python", python, cwd=tmp_path)

    assert done.out == "3 6 False\n", done.err
    assert hits(tmp_path)["work", "total += i"] == 7
