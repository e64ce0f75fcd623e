"""How much memory this process may still take before something ends it: the machine's, its control group's, its own.

What a control group holds of files that nobody has used for a while is given up when others need it: it counts as
free, as the kernel counts it in `MemAvailable`.
"""

import re
import resource
from os import O_CLOEXEC, O_RDONLY, close, path, read
from os import open as open_file

from dlprof_probes.inproc import facts

_ROOTS = ("/sys/fs/cgroup", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified")
_LENGTH = 1 << 16
_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
"""Of the second version of control groups, and of the first: limit, use, and the name of what is given up."""


def left():
    """Bytes that are left; None: the kernel does not tell."""
    told = [facts.quiet(_of_machine), facts.quiet(_of_address_space), facts.quiet(_of_groups)]
    return min((one for one in told if one is not None), default=None)


def _of_machine():
    return _number(r"^MemAvailable:\s+(\d+)", _text("/proc/meminfo")) * 1024


def _of_address_space():
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    return max(0, limit - int(_text("/proc/self/statm").split()[0]) * resource.getpagesize())


def _of_groups():
    """The least that is left in the group of this process, and in those around it; None: none of them has a limit."""
    found = [facts.quiet(lambda folder=folder: _of_group(folder)) for folder in _groups(_text("/proc/self/cgroup"))]
    return min((one for one in found if one is not None), default=None)


def _groups(text):
    """Folders that may be those of the groups that `/proc/self/cgroup` names, and of those around them."""
    folders = []
    for line in text.splitlines():
        controllers, _, below = line.partition(":")[2].partition(":")
        if "memory" in controllers.split(",") or not controllers:
            parts = below.rstrip("/").split("/")
            # In a container the path may be one of the host's, and the root be the group itself.
            for count in range(len(parts), 0, -1):
                folders.extend(root + "/".join(parts[:count]) for root in _ROOTS)
    return list(dict.fromkeys(folders))


def _of_group(folder):
    for limit_name, used_name, given_up in _FILES:
        limit_file = path.join(folder, limit_name)
        if path.isfile(limit_file):
            limit = _text(limit_file).strip()
            if not limit.isdigit():
                return None
            used = int(_text(path.join(folder, used_name)))
            idle = _number(r"^%s (\d+)" % given_up, _text(path.join(folder, "memory.stat")))
            return max(0, int(limit) - used + idle)
    return None


def _number(pattern, text):
    return int(re.search(pattern, text, re.MULTILINE).group(1))


def _text(name):
    file = open_file(name, O_RDONLY | O_CLOEXEC)
    try:
        return read(file, _LENGTH).decode("utf-8", "replace")
    finally:
        close(file)
