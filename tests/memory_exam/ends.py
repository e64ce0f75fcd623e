"""Runs that memory ends: by `ulimit -v`, by a limit that the script sets, and by the kernel in a control group."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.memory_exam import traced

WAYS = ("ulimit", "rlimit", "group")
COLUMNS = ("way", "backend", "exit code", "said", "line", "peak, MB", "held for")
_MORE_MB = 700
_GROUP_BYTES = {"tensorflow": 1_300_000_000}
_USUAL_GROUP = 1_000_000_000
_SCRIPT = traced.ROOT / "tests" / "memory_exam" / "scripts" / "filled.py"
_GROUPS = Path("/sys/fs/cgroup/memory")


def key(way: str, backend: str) -> str:
    """Its name in commands, and its folder's."""
    return f"{way}-{backend}"


def row(way: str, backend: str, work: Path) -> tuple[str, ...]:
    """One run, as a row of the table."""
    folder = work / key(way, backend)
    if way == "rlimit":
        done = traced.run(folder, _SCRIPT, backend, arguments=("--more", str(_MORE_MB)))
    elif way == "ulimit":
        before = () if (folder / "done.json").exists() else _shell(f"ulimit -v {_needs_kb(work, backend)}")
        done = traced.run(folder, _SCRIPT, backend, before=before)
    else:
        with _group(_GROUP_BYTES.get(backend, _USUAL_GROUP)) as group:
            done = traced.run(folder, _SCRIPT, backend, before=_shell(f"echo $$ > {group}/cgroup.procs"))
    report = done.report()
    found = [one for one in report["findings"] if one["slug"] == "out-of-memory"]
    kinds: dict[str, int] = {}
    for one in report["memory"]["owners"]:
        kinds[one["kind"]] = kinds.get(one["kind"], 0) + (one["bytes"] or 0)
    held = ", ".join(f"{name} {value / 1e6:.0f}" for name, value in kinds.items())
    if not found:
        return way, backend, str(done.code), "no", "", f"{report['memory']['peak_bytes'] / 1e6:.0f}", held
    fills = (_SCRIPT.name, traced.line_of(_SCRIPT, "FILLS"))
    named = (found[0]["file"].rpartition("/")[2], found[0]["line"]) if found[0]["file"] else None
    line = "yes" if named == fills else str(named)
    return way, backend, str(done.code), found[0]["claim"], line, f"{report['memory']['peak_bytes'] / 1e6:.0f}", held


def _shell(line: str) -> Sequence[str]:
    """A shell that does something, and becomes the command behind."""
    return ("sh", "-c", f'{line} && exec "$@"', "sh")


def _needs_kb(work: Path, backend: str) -> int:
    """What the script maps for one batch, and as much more as it is given (kB)."""
    done = traced.run(work / f"mapped-{backend}", _SCRIPT, backend, arguments=("--once",))
    return int(done.out.split()[-1]) + _MORE_MB * 1000


@contextmanager
def _group(limit: int) -> Iterator[Path]:
    """A control group below the one that this process is in, with so much memory (bytes); gone afterwards."""
    own = next(
        line.split(":", 2)[2] for line in Path("/proc/self/cgroup").read_text().splitlines() if ":memory:" in line
    )
    parent = _GROUPS / own.strip("/")
    made = (parent if parent.is_dir() else _GROUPS) / f"dlprof-exam-{os.getpid()}"
    made.mkdir()
    try:
        (made / "memory.limit_in_bytes").write_text(str(limit))
        yield made
    finally:
        with suppress(OSError):
            made.rmdir()


def what_there_is() -> str:
    """Whether groups can be made here."""
    try:
        with _group(1 << 30) as made:
            return f"{shlex.quote(str(made))} was made"
    except (OSError, StopIteration, subprocess.SubprocessError) as error:
        return f"no group can be made here: {error!r}"
