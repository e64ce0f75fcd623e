"""How much memory a process may still take."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest
from dlprof_probes.inproc import memory_room

INFINITE = resource.RLIM_INFINITY


class Kernel:
    """What the kernel says; files that are not here cannot be read."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.limit = INFINITE
        self.files = {"/proc/meminfo": "MemTotal: 9000 kB\nMemAvailable:    8000 kB\n"}

    def text(self, path: str) -> str:
        return self.files[path] if path in self.files else Path(path).read_text()

    def group(self, name: str, **files: str) -> None:
        """Make a control group."""
        folder = self.root / name
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (folder / file.replace("memory_", "memory.")).write_text(text)


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    """A kernel with 8 MB available and no limits."""
    made = Kernel(tmp_path)
    monkeypatch.setattr(memory_room, "_text", made.text)
    monkeypatch.setattr(memory_room, "_ROOTS", (str(tmp_path),))
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (made.limit, INFINITE))
    return made


def test_without_limits_it_is_what_the_machine_has(kernel: Kernel) -> None:
    """As the kernel estimates it."""
    kernel.files["/proc/self/cgroup"] = "0::/job\n"

    assert memory_room.left() == 8_192_000


def test_of_an_address_space_with_a_limit_it_is_what_is_not_mapped(kernel: Kernel) -> None:
    """`ulimit -v`."""
    kernel.limit = 1_000 * resource.getpagesize()
    kernel.files["/proc/self/statm"] = "900 10 5 0 0 0 0"

    assert memory_room.left() == 100 * resource.getpagesize()


def test_of_a_control_group_it_is_what_is_not_used_but_for_idle_files(kernel: Kernel) -> None:
    """Version 2."""
    kernel.files["/proc/self/cgroup"] = "0::/job\n"
    kernel.group("job", memory_max="5000\n", memory_current="4500\n", memory_stat="anon 3\ninactive_file 1200\n")

    assert memory_room.left() == 1700


def test_the_first_version_of_control_groups_has_other_names(kernel: Kernel) -> None:
    """And a line of its own for memory."""
    kernel.files["/proc/self/cgroup"] = "4:cpu:/other\n3:memory:/job\n"
    kernel.group(
        "job",
        memory_limit_in_bytes="5000",
        memory_usage_in_bytes="4500",
        memory_stat="inactive_file 1\ntotal_inactive_file 100\n",
    )

    assert memory_room.left() == 600


def test_the_tightest_of_the_groups_around_counts(kernel: Kernel) -> None:
    """A pod's around a container's."""
    kernel.files["/proc/self/cgroup"] = "0::/pod/container\n"
    kernel.group("pod/container", memory_max="max\n", memory_current="10", memory_stat="inactive_file 0\n")
    kernel.group("pod", memory_max="400", memory_current="100", memory_stat="inactive_file 0\n")

    assert memory_room.left() == 300


def test_a_path_of_the_host_leaves_the_root(kernel: Kernel) -> None:
    """In a container that does not see the host's groups."""
    kernel.files["/proc/self/cgroup"] = "0::/docker/4f1c\n"
    kernel.group("", memory_max="400", memory_current="150", memory_stat="inactive_file 0\n")

    assert memory_room.left() == 250


def test_this_very_process_has_some(tmp_path: Path) -> None:
    """Read for real."""
    left = memory_room.left()

    assert left is None or left > 0
