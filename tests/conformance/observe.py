"""Runs a case once, bare or traced, and keeps all that a user could see of it."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import termios
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from tests.conformance import acts, interpreters
from tests.conformance.case import Case
from tests.conformance.place import Place
from tests.conformance.world import Stream

_START = Path(__file__).with_name("start.py")
_SECONDS = 120
_SECONDS_OF_ENGINES = 240
_LEFT_S = 5
"""So long may helpers take to end after the program."""


@dataclass(frozen=True)
class Observation:
    """What was seen of a run.

    Attributes:
        ending: What a shell's `$?` says: the exit code, or 128 + n for signal n; None: it had to be killed.
        out: Standard output, or all that a terminal was sent.
        err: Standard error.
        events: What the shell of a terminal saw: stops.
        files: A line for each file that is there now.
        left: What the processes run that are still there.
    """

    ending: int | None
    out: bytes
    err: bytes
    events: tuple[str, ...]
    files: tuple[str, ...]
    left: tuple[str, ...]


def observe(case: Case, path: Path, *, traced: bool) -> Observation:
    """Run a case in a fresh folder at `path`."""
    place = Place(path)
    place.make(case)
    run = _Run(case, place, traced)
    try:
        run.play()
        return run.observation()
    finally:
        run.close()


class _Run:
    def __init__(self, case: Case, place: Place, traced: bool) -> None:
        self._case, self._place, self._traced = case, place, traced
        self._until = time.monotonic() + (_SECONDS_OF_ENGINES if case.backend else _SECONDS)
        # Both ends open: nobody waits for the other to open, and nobody sees an end.
        self._ready = os.open(place.path / "ready", os.O_RDWR | os.O_NONBLOCK)
        self._go = os.open(place.path / "go", os.O_RDWR)
        self._events = place.path / "events.txt"
        self._readers: list[_Reader] = []
        self._files: list[int] = []
        self._timed_out = False
        self._terminal = -1
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        command = interpreters.command(self._case, self._place, traced=self._traced)
        more = interpreters.environment(self._case, traced=self._traced)
        world = self._case.world
        slave = ""
        if world.terminal:
            self._terminal, held = pty.openpty()
            self._files.append(held)
            slave = os.ttyname(held)
            modes = termios.tcgetattr(held)
            modes[1] &= ~termios.OPOST  # what was written, as it was written
            termios.tcsetattr(held, termios.TCSANOW, modes)
        told = {
            **asdict(world),
            "closed": [n for n, one in enumerate((world.stdin, world.stdout, world.stderr)) if one is Stream.CLOSED],
            "opened": [{**asdict(one), "path": str(self._place.path / one.path)} for one in world.opened],
            "mounts": [{**asdict(one), "path": str(self._place.path / one.path)} for one in world.mounts],
            "folder": str(self._place.work),
            "environment": self._place.environment(self._case, more),
            "terminal": slave,
            "events": str(self._events),
        }
        for one in world.opened:
            if one.text is not None:
                (self._place.path / one.path).write_text(one.text)
        file = self._place.path / "world.json"
        file.write_text(json.dumps(told))
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_START), str(file), *command],
            stdin=self._input(),
            stdout=self._output("stdout"),
            stderr=self._output("stderr"),
            process_group=None if world.terminal else 0,  # a shell makes a session of its own
        )
        self._connect(process)
        return process

    def _input(self) -> int:
        if self._case.world.stdin is Stream.PIPE and not self._case.world.terminal:
            return subprocess.PIPE
        return subprocess.DEVNULL

    def _output(self, name: str) -> int:
        kind = Stream.NULL if self._case.world.terminal else getattr(self._case.world, name)
        if kind is Stream.PIPE:
            return subprocess.PIPE
        if kind is Stream.BROKEN:
            reading, writing = os.pipe()
            os.close(reading)
            self._files.append(writing)
            return writing
        path = {Stream.FULL: "/dev/full", Stream.FILE: str(self._place.path / name)}.get(kind, os.devnull)
        self._files.append(os.open(path, os.O_WRONLY | os.O_CREAT, 0o644))
        return self._files[-1]

    def _connect(self, process: subprocess.Popen[bytes]) -> None:
        if process.stdin is not None:
            threading.Thread(target=_type, args=(process.stdin, self._case.world.typed.encode()), daemon=True).start()
        for pipe in (process.stdout, process.stderr):
            self._readers.append(_Reader(pipe.fileno() if pipe is not None else -1))
        if self._case.world.terminal:
            self._readers[0] = _Reader(self._terminal)

    # -- meanwhile ---------------------------------------------------------------------------------

    def play(self) -> None:
        """Do what is to be done to it, and wait for the end."""
        for act in self._case.acts:
            script = self._wait_for_ready()
            if script is None:
                break
            self._do(act, script)
        try:
            self._process.wait(max(0.0, self._until - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._timed_out = True

    def _wait_for_ready(self) -> int | None:
        """The process that says that it is ready; None: the program has ended, or takes too long."""
        while time.monotonic() < self._until and self._process.poll() is None:
            if select.select([self._ready], [], [], 0.05)[0]:
                return int(os.read(self._ready, 100).split()[-1])
        return None

    def _do(self, act: acts.Act, script: int) -> None:
        running = acts.Running(self._pid(), script, self._place.run, self._terminal)
        act.do(running)
        if isinstance(act, acts.HangUp):
            self._readers[0].stop()
            os.close(self._terminal)
            os.close(self._files.pop(0))
            self._terminal = -1
        if act.lets_go:
            os.write(self._go, b".")

    def _pid(self) -> int:
        if not self._case.world.terminal:
            return self._process.pid
        return int(self._told("job")[0])

    def _told(self, word: str) -> list[str]:
        """What the shell said behind this word."""
        lines = self._events.read_text().splitlines() if self._events.exists() else []
        return [line.partition(" ")[2] for line in lines if line.startswith(word)]

    # -- after -------------------------------------------------------------------------------------

    def observation(self) -> Observation:
        """What is to be seen when it has ended."""
        left = self._end_all()
        out, err = (reader.stop() for reader in self._readers)
        return Observation(
            self._ending(),
            self._in_file("stdout") or out,
            self._in_file("stderr") or err,
            tuple(self._told("stopped")),
            tuple(self._place.files()),
            tuple(sorted(left)),
        )

    def _in_file(self, name: str) -> bytes:
        """What a stream that is a file holds."""
        path = self._place.path / name
        return path.read_bytes() if path.exists() else b""

    def _ending(self) -> int | None:
        if self._timed_out:
            return None
        ended = self._told("ended") if self._case.world.terminal else [str(self._process.returncode)]
        code = int(ended[0])
        return 128 - code if code < 0 else code

    def _end_all(self) -> list[str]:
        """What the processes run that do not end with the program; they are ended here."""
        end = time.monotonic() + (0 if self._timed_out else _LEFT_S)
        left = self._place.processes()
        while left and time.monotonic() < end:
            time.sleep(0.05)
            left = self._place.processes()
        names = [_name(one) for one in left]
        for one in left:
            try:
                one.kill()
            except psutil.Error:
                pass
        return names

    def close(self) -> None:
        """Leave nothing."""
        for one in self._place.processes():
            one.kill()
        self._process.wait()
        for reader in self._readers:
            reader.stop()
        for number in (self._ready, self._go, *self._files, *([self._terminal] if self._terminal >= 0 else [])):
            os.close(number)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:  # what was typed and not read
                    pass


def _type(pipe: object, text: bytes) -> None:
    try:
        pipe.write(text)  # type: ignore[attr-defined]
        pipe.close()  # type: ignore[attr-defined]
    except (OSError, ValueError):  # a program that reads nothing, or has ended
        pass


def _name(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline()[-2:]) or process.name()
    except psutil.Error:
        return "?"


class _Reader:
    """Reads a descriptor to its end in a thread of its own, so that nobody waits for us."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._read: list[bytes] = []
        self._stopping = False
        self._thread = threading.Thread(target=self._follow, daemon=True)
        if number >= 0:
            self._thread.start()

    def _follow(self) -> None:
        while True:
            stopping = self._stopping  # asked first: what was written before that is there to be read
            if select.select([self._number], [], [], 0.0 if stopping else 0.05)[0]:
                if not self._take():
                    return
            elif stopping:
                return

    def _take(self) -> bool:
        """Read what is there; whether there may be more."""
        try:
            data = os.read(self._number, 1 << 16)
        except OSError:  # a terminal that nobody holds any more
            return False
        self._read.append(data)
        return bool(data)

    def stop(self) -> bytes:
        """What was there to be read."""
        self._stopping = True
        if self._number >= 0:
            self._thread.join()
        return b"".join(self._read)
