"""A script under dlprof looks and ends as it does without."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.integration import runner

pytestmark = pytest.mark.integration

SCRIPTS = {
    "arguments": "import sys\nprint(sys.argv, __name__, __file__, sys.path[0], sys.modules['__main__'].__file__)",
    "exception": """
        import warnings
        warnings.warn("careful")
        def f(x):
            try:
                return 1 / x
            except ZeroDivisionError as error:
                raise ValueError("bad") from error
        f(0)
    """,
    "printed-traceback": """
        import traceback, logging
        try:
            import json
            json.loads("{")
        except ValueError:
            traceback.print_exc()
            logging.exception("logged")
    """,
    "own-excepthook": """
        import sys, traceback
        sys.excepthook = lambda kind, value, tb: print("hook", kind.__name__, len(traceback.extract_tb(tb)))
        raise RuntimeError
    """,
    "syntax-error": "print(1)\ndef f(:\n",
    "missing-import": "import a_module_that_does_not_exist",
    "failing-import": """
        import pathlib, sys
        pathlib.Path("beside.py").write_text("import os\\n1 / 0\\n")
        import beside
    """,
    "exit-code": "import sys\nprint('bye')\nsys.exit(3)",
    "exit-message": "import sys\nsys.exit('message')",
    "os-exit": "import os\nos._exit(7)",
    "atexit": "import atexit\natexit.register(print, 'last')\nprint('first')",
    "segfault": "import ctypes\nctypes.string_at(0)",
    "killed": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "terminated": "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)",
    "interrupted-by-itself": "raise KeyboardInterrupt",
    "fork": """
        import os
        pid = os.fork()
        if pid:
            os.wait()
        print("parent" if pid else "child")
    """,
    "workers": """
        import multiprocessing
        def square(x):
            return x * x
        if __name__ == "__main__":
            for method in ("fork", "spawn"):
                with multiprocessing.get_context(method).Pool(2) as pool:
                    print(pool.map(square, range(4)))
    """,
    "threads": """
        import threading
        def work():
            raise ValueError("in a thread")
        thread = threading.Thread(target=work, name="worker")
        thread.start()
        thread.join()
    """,
    "stdin": "import sys\nprint(sys.stdin.read().upper())",
    "chdir": "import os\nos.chdir('/')\nprint(os.getcwd())",
    "stdout-replaced": "import sys, io\nsys.stdout = io.StringIO()\nprint('x')",
    "stdout-closed": "import sys\nsys.stdout.close()",
    "trace-function": """
        import sys
        seen = []
        def tracer(frame, event, arg):
            seen.append(event)
            return tracer
        sys.settrace(tracer)
        def g():
            return 1
        g()
        sys.settrace(None)
        print(seen)
    """,
    "recursion": """
        import sys
        def f(n):
            return f(n + 1)
        try:
            f(0)
        except RecursionError as error:
            print("deep", error)
    """,
    "warning-place": """
        import warnings
        def deprecated():
            warnings.warn("old", DeprecationWarning, stacklevel=2)
        deprecated()
    """,
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_output_and_exit_code_are_those_of_plain_python(name: str, tmp_path: Path) -> None:
    """Standard output, standard error and exit code are equal to the last character."""
    runner.write(tmp_path, "script.py", SCRIPTS[name])
    bare = runner.run([sys.executable, "script.py", "a", "b c"], cwd=tmp_path, stdin="typed\n")
    code = bare.code if bare.code >= 0 else 128 - bare.code

    traced = runner.trace("script.py", "--", "a", "b c", cwd=tmp_path, stdin="typed\n")

    errors = [line for line in traced.err.splitlines(keepends=True) if not line.startswith("dlprof: ")]
    assert "".join(errors) == bare.err
    assert traced.out == bare.out
    assert traced.code == code


def test_a_module_runs_as_with_python_m(tmp_path: Path) -> None:
    """`-m` sets argv, __package__ and sys.path as Python does."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "tool.py").write_text(
        "import sys\nfrom . import __name__ as n\nprint(sys.argv, __package__, n, sys.path[0])\n"
    )
    bare = runner.run([sys.executable, "-m", "package.tool", "x"], cwd=tmp_path)

    traced = runner.run(
        [*runner.DLPROF, "trace", "-m", "package.tool", "-o", "run", "--no-report", "--", "x"], cwd=tmp_path
    )

    assert traced.out == bare.out
    assert traced.code == 0


def test_every_ending_leaves_a_run_that_reports(tmp_path: Path) -> None:
    """A script that is killed by itself leaves phases that sum to the wall time."""
    runner.write(tmp_path, "script.py", SCRIPTS["killed"])

    runner.trace("script.py", cwd=tmp_path)

    content = runner.report(tmp_path)
    top = sum(p["dur_ns"] for p in content["phases"] if p["parent"] is None)
    assert top + content["unattributed_ns"] == content["wall_ns"]
    assert (content["exit"]["code"], content["exit"]["signal"]) == (None, 9)
    assert "inproc-cut" in [entry["slug"] for entry in content["health"]]
