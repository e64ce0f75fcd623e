"""The processes that the script has started: those whose parents ended are dlprof's children then (a subreaper's)."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:  # loaded when there is a process to ask: most scripts leave none
    import psutil

T = TypeVar("T")
_TEXT = 200
_ZOMBIE = "zombie"
"""psutil's name of the state."""
_GONE_S = 1.0
"""How long a process may take to end of SIGKILL."""


def ask(process: psutil.Process, question: Callable[[psutil.Process], T], otherwise: T) -> T:
    """What a process says of itself; `otherwise` where it has ended at this moment, or may not be asked."""
    import psutil  # noqa: PLC0415

    try:
        return question(process)
    except (psutil.Error, OSError):
        return otherwise


class Descendants:
    """What the script has started, apart from what dlprof runs for itself."""

    def __init__(self) -> None:
        self._others = set(own_children())
        """Processes that are none of the script's: helpers, and children from before an `exec` of dlprof."""

    def ignore(self, pid: int) -> None:
        """`pid` is one of dlprof's own helpers."""
        self._others.add(pid)

    def running(self, traced: int) -> list[psutil.Process]:
        """Those that still run, without the traced process itself."""
        if _knows_children() and not set(own_children()) - self._others:
            return []
        import psutil  # noqa: PLC0415

        try:
            found = psutil.Process().children(recursive=True)
        except (psutil.Error, OSError):  # without /proc nobody knows
            return []
        return [process for process in found if process.pid != traced and self._is_the_scripts(process)]

    def _is_the_scripts(self, process: psutil.Process) -> bool:
        above: list[psutil.Process] = ask(process, lambda one: one.parents(), [])
        parents = {parent.pid for parent in above}
        own = process.pid in self._others or bool(parents & self._others)
        return not own and ask(process, lambda one: str(one.status()), _ZOMBIE) != _ZOMBIE

    def reap(self, traced: int) -> None:
        """Take what has ended and has no parent but dlprof; helpers and the traced process have theirs, who wait."""
        while (pid := _ended_child()) is not None:
            if pid == traced or pid in self._others:
                _take(child for child in own_children() if child != traced and child not in self._others)
                return
            _take([pid])


def _knows_children() -> bool:
    """Whether the kernel has lists of children."""
    return Path(f"/proc/self/task/{os.getpid()}/children").exists()


def own_children() -> tuple[int, ...]:
    """The children of this process, running or not, by the kernel's lists."""
    children: list[int] = []
    try:
        for thread in Path("/proc/self/task").iterdir():
            children += [int(word) for word in (thread / "children").read_text(encoding="ascii").split()]
    except OSError:  # a kernel without these lists, or a thread that has just ended
        pass
    return tuple(children)


def _ended_child() -> int | None:
    """A child that has ended, left as it is; None: there is none."""
    try:
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return found.si_pid if found is not None else None


def _take(pids: Iterable[int]) -> None:
    for pid in pids:
        try:
            os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            pass


def command_lines(processes: Iterable[psutil.Process]) -> dict[int, str]:
    """The command line of each, by its number; `?` of one that has just ended."""
    return {
        process.pid: ask(process, lambda one: " ".join(one.cmdline())[:_TEXT] or one.name(), "?")
        for process in processes
    }


def tell(processes: Iterable[psutil.Process], number: int) -> None:
    """Send each of them a signal."""
    for process in processes:
        ask(process, lambda one: one.send_signal(number), None)


def end(processes: list[psutil.Process], grace_s: float) -> None:
    """End them: politely first, and after that time (s) not."""
    if not processes:
        return
    import psutil  # noqa: PLC0415

    tell(processes, signal.SIGTERM)
    _gone, alive = psutil.wait_procs(processes, timeout=grace_s)
    tell(alive, signal.SIGKILL)
    psutil.wait_procs(alive, timeout=_GONE_S)


def in_session_of(processes: Iterable[psutil.Process], session: int) -> list[psutil.Process]:
    """Those of a session: one that made its own is a service that is to stay."""

    def is_there(pid: int) -> bool:
        try:
            return os.getsid(pid) == session
        except OSError:
            return False

    return [process for process in processes if is_there(process.pid)]
