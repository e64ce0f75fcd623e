"""Hostile and broken environments: folders that cannot be used, files in the way, scripts that take away what others need."""

from __future__ import annotations

import os

from tests.conformance.case import Case
from tests.conformance.world import Mount, Mounted, World

HIDDEN_NAMES = (
    "typing",
    "re",
    "enum",
    "types",
    "psutil",
    "numpy",
    "dataclasses",
    "pathlib",
    "msgspec",
    "subprocess",
    "json",
)
"""Modules that dlprof and its helpers need; files of these names lie beside the script, and on PYTHONPATH."""
HOW = (
    "plain", "builtins_none", "exceptions_none", "no_import", "paths_cleared", "modules_cleared", "own_environ", "no_descriptors",
    "few_processes", "umask", "audited", "dumps_later", "line_profiled", "covered", "c_profiled", "monkey_threading",
    "all_signals_blocked", "many_frames", "frozen", "interrupted_while_joining",
)  # fmt: skip
WORLDS = {
    "no-proc": World(mounts=(Mount(Mounted.HIDDEN, "/proc"),)),
    "no-sys": World(mounts=(Mount(Mounted.HIDDEN, "/sys"),)),
    "home-read-only": World(mounts=(Mount(Mounted.READ_ONLY, "home"),)),
    "folder-read-only": World(mounts=(Mount(Mounted.READ_ONLY, "work"),)),
    "tmp-full": World(mounts=(Mount(Mounted.FULL, "tmp"),)),
    "tmp-without-programs": World(mounts=(Mount(Mounted.NO_PROGRAMS, "tmp"), Mount(Mounted.NO_PROGRAMS, "/tmp"))),
    "umask-777": World(umask=0o777),
    "odd-language": World(environment={"LANG": "xx_YY.latin-9", "LC_ALL": "not a locale"}),
    "ascii": World(environment={"LANG": "C", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}),
    "start-up-file": World(environment={"PYTHONSTARTUP": "/nonexistent"}),
    "little-memory": World(limits={"RLIMIT_AS": 300 << 20}),
    "hardly-memory": World(limits={"RLIMIT_AS": 100 << 20}),
    "inherited-settings": World(environment={"DLPROF_DEBUG": "1", "PYTHONPLATLIBDIR": "lib", "PYTHONINTMAXSTRDIGITS": "700"}),
}  # fmt: skip
FOLLOWED = (
    "plain", "killed", "stopped_and_killed", "outlives", "without_environment", "isolated", "many", "shells", "pools", "dies",
    "closes", "os_exit", "segfault", "forks_in_a_thread", "double_fork", "execs", "umask", "closes_streams", "changes_user",
    "removes_modules", "deleted_folder",
)  # fmt: skip
"""Ends of Pythons below a script that is followed; the engine that they load is an empty file."""
LONG = "/".join(["d" * 200] * 12)
BESIDE = tuple(("shadow.py", f"{name}.py") for name in HIDDEN_NAMES)

CASES = [
    *(Case(f"hostile/{how}", "hostile.py", (how,)) for how in HOW),
    *(Case(f"hostile/{name}", "hostile.py", ("plain",), world) for name, world in WORLDS.items()),
    *(Case(f"hostile/{how}", "hostile.py", (how,), World(mounts=(Mount(Mounted.READ_ONLY, "home"),))) for how in ("own_namespace", "filtered")),
    Case("hostile/broken_in", "hostile.py", ("broken_in",), World(typed="p value\nn\ncontinue\n")),
    Case("hostile/no-proc/processes", "processes.py", ("children",), WORLDS["no-proc"]),
    Case("hostile/no-proc/failing", "endings.py", ("chained",), WORLDS["no-proc"]),
    Case("hostile/no-proc/reported", "hostile.py", ("plain",), WORLDS["no-proc"], reported=True),
    Case("hostile/little-memory/failing", "endings.py", ("exit-3",), WORLDS["little-memory"]),
    *(Case(f"followed/{how}", "followed.py", (how,), World(limits={"RLIMIT_CORE": 0}), flags=("--follow",), beside=(("empty.py", "theano.py"),))
      for how in FOLLOWED),
    Case("shadowed/beside", "shadowed.py", beside=BESIDE),
    Case("shadowed/on-path", "shadowed.py", world=World(environment={"PYTHONPATH": "{program}/more"}),
         beside=tuple(("shadow.py", f"more/{name}.py") for name in HIDDEN_NAMES)),
    Case("shadowed/dlprof-as-module", "shadowed.py", beside=BESIDE[:3] + BESIDE[4:], as_module=True),
    Case("shadowed/module", "shadowed.py", beside=BESIDE[:3] + BESIDE[4:], module="shadowed"),
    *(Case(f"files-of-python/{name}/{script}", f"{script}.py", ("chained",), packed=packed) for script in ("facts", "endings")
      for name, packed in (("folder", "app"), ("archive", "app.zip"), ("compiled", "app.pyc"))),
    Case("files-of-python/compiled/cut", "null_byte.py", called="null_byte.pyc"),
    Case("files-of-python/name-not-utf-8", "facts.py", ("a",), called=os.fsdecode(b"n\xff.py")),
    Case("files-of-python/long-path", "facts.py", ("a",), called=f"{LONG}/facts.py"),
]  # fmt: skip
