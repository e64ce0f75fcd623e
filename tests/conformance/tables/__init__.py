"""All cases, a file for each kind."""

from __future__ import annotations

import fnmatch

from tests.conformance.case import Case
from tests.conformance.tables import born, doing, endings, engines, hostile, signals

ON_DEMAND = (
    *(f"born/{name}" for name in (
        "stderr-closed", "stdout-broken", "descriptor-3", "small-stack", "no-cores-dumped", "processor-time",
        "in-the-background", "term-ignored", "pipe-ignored", "interrupt-blocked", "umask-000", "nice", "home-not-there",
        "no-tmp", "encoding", "unbuffered", "hash-seed", "no-bytecode", "bytecode-elsewhere", "fault-handler",
        "allocations-traced", "no-user-site", "no-breakpoints", "memory-debugged", "no-columns", "more-path", "zone",
        "colours", "preloaded", "keras-variables", "module", "in-a-folder", "without-*", "kernels-all",
        "python-3.9", "python-3.10", "python-3.11",
    )),
    "main-module/python-3.9", "main-module/python-3.1[01]", "environment/*",
    *(f"ends/{name}" for name in (
        "exit-none", "exit-3", "exit-true", "exit-list", "exit-float", "exit-unicode", "exit-in-thread", "exit-at-exit",
        "failing-hook", "thread-hook", "memory", "class", "comprehension", "exec", "generator", "exit-subclass",
        "generator-exit", "replaced-exit", "main-thread-exits", "unraisable", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGALRM",
        "SIGPIPE", "SIGSTKFLT", "chained/python-3.10", "chained/python-3.12", "chained/optimised", "chained/no-columns",
        "warnings/*", "SIGKILL/reported",
    )),
    "source/empty", "source/latin_1", "source/mixed_tabs", "source/syntax-error/module", "source/not-there/module",
    "signals/caught/SIGUSR2", "signals/caught/SIGIO", "signals/caught/SIGURG", "signals/caught/SIGPROF",
    "signals/caught/SIGVTALRM", "signals/caught/SIGXCPU", "signals/caught/SIGPIPE", "signals/caught/SIGRTM*",
    "signals/left-alone/SIG[HUAP]*", "signals/ignored/SIGHUP", "signals/ignored/SIGQUIT", "signals/blocked/SIGTERM",
    "signals/to-the-script/SIGTERM", "signals/timer/SIGPROF", "signals/timer/SIGVTALRM", "signals/polite/SIGINT/group",
    "signals/keys/interrupt/polite", "signals/keys/quit/left-alone", "signals/terminal/kill",
    "descriptors/redirect", "descriptors/sockets", "descriptors/lower_limit",
    *(f"processes/{name}" for name in (
        "fork_of_thread", "parent_first", "spawned", "executor", "renamed", "not_dumpable", "parent_seen", "pools/*",
        "own_group/terminal",
    )),
    *(f"replaced/{name}" for name in (
        "json_loads", "clocks", "threads", "importing", "finders", "modules", "exiting", "frames", "environment", "recursion",
    )),
    *(f"tools/{name}" for name in (
        "thread_traced", "debugged", "allocations", "tested", "later", "command_line", "pickled", "many_threads",
        "traced_lines/*", "monitored/python-3.12",
    )),
    *(f"streams/{name}" for name in ("binary", "both/file", "reopened", "colours", "to_nobody/*", "odd_text/locale-c")),
    *(f"files/{name}" for name in ("script_changed", "no_threads", "no_processor_time", "modes/umask-077", "change_folder")),
    "gone/payload", "gone/run-folder/reported",
    *(f"hostile/{name}" for name in (
        "plain", "exceptions_none", "no_import", "paths_cleared", "modules_cleared", "own_environ", "few_processes", "umask",
        "dumps_later", "covered", "c_profiled", "monkey_threading", "all_signals_blocked", "many_frames", "frozen",
        "no-sys", "home-read-only", "folder-read-only", "tmp-full", "tmp-without-programs", "odd-language", "ascii",
        "start-up-file", "hardly-memory", "inherited-settings", "own_namespace", "broken_in", "no-proc/*", "little-memory/*",
    )),
    *(f"followed/{name}" for name in (
        "plain", "stopped_and_killed", "without_environment", "isolated", "many", "shells", "pools", "os_exit", "segfault",
        "forks_in_a_thread", "umask", "closes_streams", "changes_user", "removes_modules", "deleted_folder",
    )),
    "shadowed/module", "files-of-python/*/endings", "files-of-python/compiled/cut", "files-of-python/long-path",
    "engines/jax/closes", "engines/jax/replaces", "engines/*/interrupted", "engines/torch/killed", "engines/tensorflow/fails",
    "engines/native-torch/plain", "engines/native-gluon/plain", "engines/native-lasagne/plain",
)  # fmt: skip
"""Cases of `python -m tests.conformance` alone (names, or patterns with *)."""


def all_cases() -> list[Case]:
    """In a fixed order; their names are unique."""
    cases = [*born.CASES, *endings.CASES, *signals.CASES, *doing.CASES, *hostile.CASES, *engines.CASES]
    names = [case.name for case in cases]
    doubled = {name for name in names if names.count(name) > 1}
    if doubled:
        raise ValueError(f"cases of one name: {sorted(doubled)}")
    return cases


def everyday() -> list[Case]:
    """Those that every run of the tests has: all but what is much like another one."""
    return [case for case in all_cases() if not any(fnmatch.fnmatch(case.name, pattern) for pattern in ON_DEMAND)]
