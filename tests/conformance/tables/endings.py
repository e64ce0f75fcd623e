"""Every way in which a script can end."""

from __future__ import annotations

from tests.conformance.case import Case
from tests.conformance.world import World

WAYS = (
    "exit-0", "exit-none", "exit-3", "exit-300", "exit--1", "exit-true", "exit-text", "exit-list", "exit-float", "exit-unicode",
    "os-exit", "unflushed", "abort", "segfault", "faulthandler", "chained", "unprintable", "thread", "exit-in-thread",
    "late-thread", "daemon-thread", "atexit", "exit-at-exit", "finaliser", "hook", "failing-hook", "thread-hook", "group",
    "notes", "recursion", "memory", "class", "comprehension", "exec", "generator", "warnings", "exit-subclass", "closed-out",
    "interrupt", "generator-exit", "replaced-exit", "main-thread-exits", "gone-main", "unraisable", "SIGTERM", "SIGKILL",
    "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGALRM", "SIGPIPE", "SIGSTKFLT",
)  # fmt: skip
SOURCES = (
    "syntax_error",
    "null_byte",
    "empty",
    "byte_order_mark",
    "latin_1",
    "not_utf_8",
    "mixed_tabs",
    "import_error",
)
NO_CORES = World(limits={"RLIMIT_CORE": 0})

CASES = [
    *(Case(f"ends/{way}", "endings.py", (way,), NO_CORES) for way in WAYS),
    *(Case(f"source/{name}", f"{name}.py") for name in SOURCES),
    *(Case(f"ends/chained/python-{version}", "endings.py", ("chained",), python=version) for version in ("3.8", "3.10", "3.12", "3.13")),
    Case("ends/recursion/python-3.12", "endings.py", ("recursion",), python="3.12"),
    Case("ends/chained/module", "endings.py", ("chained",), module="endings"),
    Case("source/syntax-error/module", "syntax_error.py", module="syntax_error"),
    Case("source/not-there/module", "empty.py", module="empty", called="other.py"),
    Case("ends/chained/reported", "endings.py", ("chained",), reported=True),
    Case("ends/SIGKILL/reported", "endings.py", ("SIGKILL",), reported=True),
    Case("ends/warnings/errors", "endings.py", ("warnings",), World(environment={"PYTHONWARNINGS": "error"})),
    Case("ends/warnings/development", "endings.py", ("warnings",), World(environment={"PYTHONDEVMODE": "1"})),
    Case("ends/chained/optimised", "endings.py", ("chained",), World(environment={"PYTHONOPTIMIZE": "1"})),
    Case("ends/chained/no-columns", "endings.py", ("chained",), World(environment={"PYTHONNODEBUGRANGES": "1"})),
    Case("ends/chained/terminal", "endings.py", ("chained",), World(terminal=True)),
]  # fmt: skip
