"""What scripts do: descriptors, processes, replaced functions, tools of Python, streams, files; and helpers that go away."""

from __future__ import annotations

from tests.conformance.acts import Keys, KillHelper, RemoveFromRun
from tests.conformance.case import Case
from tests.conformance.world import Opened, Stream, World

DESCRIPTORS = ("close_range", "close_high", "close_all_at_once", "take_over", "streams", "exhaust", "lower_limit", "inherit",
               "redirect", "sockets")  # fmt: skip
PROCESSES = (
    "fork", "forks", "fork_of_thread", "parent_first", "child_raises", "become", "become_shell", "children", "pools", "spawned",
    "executor", "daemon", "orphans", "child_signals", "own_group", "group_killed", "parent_seen", "other_user", "chroot",
    "renamed", "not_dumpable", "stopped_by_itself", "held_stream",
)  # fmt: skip
REPLACED = (
    "json_dumps", "json_loads", "json_gone", "clocks", "clocks_none", "opening", "writing", "asking", "threads", "printing",
    "built_in", "importing", "finders", "modules", "collector", "exits", "exiting", "environment", "frames", "hooks", "paths",
    "output", "recursion",
)  # fmt: skip
TOOLS = ("traced_lines", "profiled", "thread_traced", "debugged", "allocations", "logs", "stacks", "tested", "loop",
         "many_threads", "later", "command_line", "pickled")  # fmt: skip
STREAMS = ("read", "ask", "much", "binary", "odd_text", "both", "no_line_end", "reopened", "colours")
FILES = ("modes", "change_folder", "folder_deleted", "script_deleted", "script_changed", "home_deleted", "full", "nothing_fits",
         "no_memory", "no_processor_time", "no_threads")  # fmt: skip
TYPED = "first\nsecond\nthird \u00e4\n"
GIVEN = World(opened=(Opened(3, "work/log"), Opened(4, "given", "text"), Opened(9, "work/more")))

CASES = [
    *(Case(f"descriptors/{how}", "descriptors.py", (how,)) for how in DESCRIPTORS),
    Case("descriptors/inherited", "descriptors.py", ("inherited",), GIVEN),
    Case("descriptors/not-inherited", "descriptors.py", ("inherited",)),
    *(Case(f"processes/{how}", "processes.py", (how,)) for how in PROCESSES),
    Case("processes/own_group/terminal", "processes.py", ("own_group",), World(terminal=True)),
    Case("processes/fork/python-3.12", "processes.py", ("fork",), python="3.12"),
    Case("processes/fork/development", "processes.py", ("fork",), World(environment={"PYTHONDEVMODE": "1"}), python="3.13"),
    Case("processes/pools/python-3.8", "processes.py", ("pools",), python="3.8"),
    Case("processes/pools/python-3.13", "processes.py", ("pools",), python="3.13"),
    *(Case(f"replaced/{how}", "replaced.py", (how,)) for how in REPLACED),
    *(Case(f"tools/{how}", "tools.py", (how,)) for how in TOOLS),
    *(Case(f"tools/monitored/python-{version}", "tools.py", ("monitored",), python=version) for version in ("3.12", "3.13")),
    *(Case(f"tools/traced_lines/python-{version}", "tools.py", ("traced_lines",), python=version) for version in ("3.8", "3.12")),
    Case("tools/console", "tools.py", ("console",), World(typed="x = 1\nprint(x)\n1 / 0\n")),
    *(Case(f"streams/{how}", "streams.py", (how,), World(typed=TYPED)) for how in STREAMS),
    *(Case(f"streams/{how}/broken", "streams.py", (how,), World(stdout=Stream.BROKEN)) for how in ("to_nobody", "to_nobody_unhandled")),
    *(Case(f"streams/{how}/full", "streams.py", (how,), World(stdout=Stream.FULL)) for how in ("to_nobody", "to_nobody_unhandled")),
    Case("streams/errors_to_nobody/broken", "streams.py", ("errors_to_nobody",), World(stderr=Stream.BROKEN)),
    Case("streams/errors_to_nobody/full", "streams.py", ("errors_to_nobody",), World(stderr=Stream.FULL)),
    Case("streams/both/file", "streams.py", ("both",), World(stdout=Stream.FILE, stderr=Stream.FILE)),
    Case("streams/read/reported-to-nobody", "streams.py", ("read",), World(stderr=Stream.BROKEN), reported=True),
    Case("streams/read/reported-full", "streams.py", ("read",), World(stderr=Stream.FULL), reported=True),
    Case("streams/odd_text/locale-c", "streams.py", ("odd_text",), World(environment={"LC_ALL": "C", "LANG": None})),
    Case("streams/keys", "streams.py", ("keys",), World(terminal=True), (Keys(b"q"),)),
    *(Case(f"files/{how}", "files.py", (how,), World(limits={"RLIMIT_CORE": 0})) for how in FILES),
    Case("files/modes/umask-077", "files.py", ("modes",), World(umask=0o077)),
    Case("gone/run-folder", "helpers_gone.py", acts=(RemoveFromRun("."),)),
    Case("gone/run-folder/reported", "helpers_gone.py", acts=(RemoveFromRun("."),), reported=True),
    Case("gone/raw", "helpers_gone.py", acts=(RemoveFromRun("raw"),)),
    Case("gone/payload", "helpers_gone.py", acts=(RemoveFromRun("payload"),)),
    Case("gone/sampler", "helpers_gone.py", acts=(KillHelper("dlprof_probes.sidecar"),)),
    Case("gone/py-spy", "helpers_gone.py", acts=(KillHelper("py-spy"),)),
]  # fmt: skip
