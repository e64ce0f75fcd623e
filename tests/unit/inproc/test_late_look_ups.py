"""Functions that programs replace are bound where a module is loaded, not looked up when they are needed."""

from __future__ import annotations

import ast
from pathlib import Path

import dlprof_probes

PROBES = Path(dlprof_probes.__file__).parent
FILES = [*sorted((PROBES / "inproc").rglob("*.py")), PROBES / "wire.py", PROBES / "mark.py"]
MODULES = {
    "atexit", "builtins", "collections", "gc", "glob", "io", "itertools", "json", "os", "runpy", "shutil", "signal",
    "socket", "struct", "subprocess", "sys", "tempfile", "threading", "time",
}  # fmt: skip
STATE = {"sys.modules", "sys.path", "sys.argv", "sys.orig_argv", "sys.executable", "sys.stderr", "sys.version_info", "sys.implementation",
         "sys.excepthook", "sys.__excepthook__", "sys.monitoring", "sys.meta_path", "os.path", "os.sep", "os.environ", "os.__file__", "os.supports_fd", "os.supports_follow_symlinks",
         "gc.callbacks"}  # fmt: skip
"""Read as it is now, on purpose; of `os.path` only what computes with texts."""
AT_THE_START = {
    "boot.py",
    "session.py",
    "program.py",
    "__main__.py",
    "sitecustomize.py",
    "process_life.py",
    "main_file.py",
}
"""What they call runs before the program does."""
ALLOWED = {
    ("lines.py", "sys.gettrace"): "asks for what the program has set, as a debugger may have replaced it",
    ("lines.py", "sys.settrace"): "the same",
    ("lines.py", "sys._getframe"): "the same",
    ("in_place.py", "sys.gettrace"): "the same",
    ("exit_status.py", "os._exit"): "is hooked: the one that the program has",
    ("census.py", "sys.gettrace"): "the same",
    ("census.py", "sys.settrace"): "the same",
    ("recorder.py", "itertools.count"): "made at the start",
    ("stream.py", "collections.deque"): "made at the start",
    ("stream.py", "itertools.count"): "made at the start",
    ("stream.py", "threading.Lock"): "made at the start",
    ("wire.py", "json.encoder"): "asked where the module is loaded",
}


def _of_module(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in MODULES


def late(file: Path) -> list[tuple[str, str]]:
    """Where functions of a file look something up: name of the file, `module.name` or `open`."""
    found = []
    for function in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(function, (ast.FunctionDef, ast.Lambda)):
            continue
        for node in ast.walk(function):
            if not isinstance(getattr(node, "ctx", None), ast.Store) and _of_module(node):
                found.append((file.name, ast.unparse(node)))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open":
                found.append((file.name, "open"))
    return found


def test_nothing_is_looked_up_late_that_a_program_may_replace() -> None:
    """`json.dumps`, `time.time`, `os.write`, `open` and their kin; exceptions are named above."""
    asked = [file for file in FILES if file.name not in AT_THE_START]
    found = {entry for file in asked for entry in late(file) if entry[1] not in STATE and entry not in ALLOWED}

    assert found == set()
    assert len(asked) > 50


def test_a_late_look_up_is_seen(tmp_path: Path) -> None:
    """In a function, in a lambda; not where a module is loaded."""
    (tmp_path / "file.py").write_text(
        "import os, time\nx = time.time()\ndef f():\n    os.write(open('x'))\n    lambda: time.time()\n"
    )

    assert set(late(tmp_path / "file.py")) == {("file.py", "os.write"), ("file.py", "open"), ("file.py", "time.time")}
