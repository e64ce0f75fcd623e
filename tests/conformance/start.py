"""Makes the world of a program, and becomes it: `python -I -S start.py WORLD.json COMMAND...` (standard library only).

In a program of its own, because what it changes is that of the whole process. At a terminal it stays, as a shell with job
control would: the program is a job in the foreground, and one that was stopped is told and continued.
"""

import ctypes
import fcntl
import json
import os
import resource
import signal
import sys
import termios
import time
from typing import Any

NEW_MOUNTS = 0x20000
PRIVATE, RECURSIVE, BIND, AGAIN = 1 << 18, 0x4000, 0x1000, 0x20
FLAGS = {"read-only": 1, "no-programs": 8}


def mount(one: dict[str, Any]) -> None:
    """Mount something, for this process and those that it starts."""
    path = one["path"].encode()
    if one["how"] in FLAGS:
        call("mount", path, path, None, BIND, None)
        call("mount", None, path, None, BIND | AGAIN | FLAGS[one["how"]], None)
        return
    call("mount", b"none", path, b"tmpfs", 0, b"size=4k" if one["how"] == "full" else None)
    if one["how"] == "full":
        with open(os.path.join(one["path"], "takes-all"), "wb") as file:
            file.write(bytes(4096))


def call(name: str, *arguments: Any) -> None:
    """Call a function of the C library that says 0."""
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments):
        raise OSError(ctypes.get_errno(), name, arguments)


def enter(world: dict[str, Any]) -> None:
    """Become what the program is to inherit."""
    if world["mounts"]:
        call("unshare", NEW_MOUNTS)
        call("mount", None, b"/", None, PRIVATE | RECURSIVE, None)
        for one in world["mounts"]:
            mount(one)
    for name in ("SIGPIPE", "SIGXFSZ"):  # Python's own start ignores them
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    for name in world["ignored"]:
        signal.signal(number_of(name), signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, [number_of(name) for name in world["blocked"]])
    for one in world["opened"]:
        open_at(one)
    for number in world["closed"]:
        os.close(number)
    os.umask(world["umask"])
    os.nice(world["nice"])
    os.chdir(world["folder"])
    if world["folder_gone"]:
        os.mkdir("gone")
        os.chdir("gone")
        os.rmdir("../gone")
    for name, most in world["limits"].items():
        resource.setrlimit(getattr(resource, name), (most, most))


def number_of(name: str) -> int:
    """SIGUSR1 by name; SIGRTMIN+3, too."""
    base, _, more = name.partition("+")
    return int(getattr(signal, base)) + int(more or 0)


def open_at(one: dict[str, Any]) -> None:
    """Open a file at a number, inherited by programs."""
    flags = os.O_RDONLY if one["text"] is not None else os.O_WRONLY | os.O_CREAT | os.O_APPEND
    made = os.open(one["path"], flags, 0o644)
    if made != one["number"]:
        os.dup2(made, one["number"])
        os.close(made)
    os.set_inheritable(one["number"], True)


def become(world: dict[str, Any], command: list[str]) -> None:
    """Never returns."""
    enter(world)
    os.execve(command[0], command, world["environment"])  # noqa: S606


class Shell:
    """A shell with one job, in the foreground of a terminal."""

    def __init__(self, world: dict[str, Any], command: list[str]) -> None:
        os.setsid()
        terminal = os.open(world["terminal"], os.O_RDWR)
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        for number in (0, 1, 2):
            os.dup2(terminal, number)
        os.close(terminal)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        self._events = world["events"]
        self._job = os.fork()
        if self._job == 0:
            os.setpgid(0, 0)
            os.tcsetpgrp(0, os.getpid())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            become(world, command)
        signal.signal(signal.SIGHUP, lambda *_: os.killpg(self._job, signal.SIGHUP))
        self._say("job %d" % self._job)

    def _say(self, text: str) -> None:
        with open(self._events, "a") as events:
            events.write(text + "\n")

    def wait(self) -> None:
        """Until the job has ended."""
        while True:
            _, status = os.waitpid(self._job, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                self._say("ended %d" % (-os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)))
                return
            self._say("stopped by %s" % signal.Signals(os.WSTOPSIG(status)).name)
            os.tcsetpgrp(0, os.getpid())
            time.sleep(0.4)  # longer than dlprof waits for anything: what runs out meanwhile has run out
            os.tcsetpgrp(0, self._job)  # fg
            os.killpg(self._job, signal.SIGCONT)


def main() -> None:
    with open(sys.argv[1]) as source:
        world = json.load(source)
    if world["terminal"]:
        Shell(world, sys.argv[2:]).wait()
    else:
        become(world, sys.argv[2:])


main()
