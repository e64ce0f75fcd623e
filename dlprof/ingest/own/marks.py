"""Reads the marks of a program that is no Python script (`raw/marks.jsonl`) into a stream of spans and steps.

A line is `begin NAME [key=value ...]`, `end [NAME]`, `epoch [NUMBER]`, `step` or `metric NAME VALUE`. A word `@TIME`
in front, Unix time in seconds, states when it was; else the time of arrival counts.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from dlprof_probes import wire

from dlprof import safe_files
from dlprof.ingest.artifact import ArtifactError, Health
from dlprof.ingest.own.step_log import StepLog
from dlprof.ingest.own.wire_stream import Stream

_THREAD = 1
_LOOPS = ("fit", "evaluate", "predict")
_COMPLAINTS_AT_MOST = 5


def read(path: Path, start_ns: int, end_ns: int, wall_to_run_ns: int) -> Stream:
    """The stream that the marks tell.

    Args:
        path: The file.
        start_ns: Start of the program, on the run's clock.
        end_ns: Its end.
        wall_to_run_ns: What is added to Unix time to get the run's clock.

    Raises:
        ArtifactError: The file is damaged.
    """
    work = _Marks(Stream(path, complete=True, steps=StepLog(path.parent)), start_ns, end_ns, wall_to_run_ns)
    with safe_files.opened(path.parent, path.name) as source:
        try:
            for text in safe_files.lines(source):
                time, line = json.loads(text.decode("utf-8", errors="replace"))
                work.take(int(time), str(line))
        except (ValueError, TypeError, OverflowError, safe_files.RefusedError) as error:
            raise ArtifactError(f"damaged: {error}", path=path) from error
    return work.finish()


class _Open(NamedTuple):
    """A span that is open."""

    number: int
    name: str


@dataclass
class _Marks:
    stream: Stream
    start_ns: int
    end_ns: int
    wall_to_run_ns: int
    _open: list[_Open] = field(default_factory=list)
    _epoch: _Open | None = None
    _number: int = 0
    _step_start: int = 0
    _step: int = 0
    _epochs: int = 0
    _odd: int = 0

    def __post_init__(self) -> None:
        self.stream.meta = {"main_thread": _THREAD, "boot_ns": self.start_ns}
        self.stream.threads[_THREAD] = "program"
        self.stream.spans.end(self._span("script", "script", self.start_ns).number, self.end_ns)

    def _span(self, kind: str, name: str, time: int) -> _Open:
        self._number += 1
        self.stream.spans.begin(self._number, kind, name, _THREAD, time)
        return _Open(self._number, name)

    def take(self, time: int, line: str) -> None:
        """One line, and when it came (ns on the run's clock)."""
        words = line.split()
        if words and words[0].startswith("@"):
            try:
                time = round(float(words[0][1:]) * 1e9) + self.wall_to_run_ns
            except (ValueError, OverflowError):
                self._complain(line)
                return
            words = words[1:]
        if not words:
            return
        time = min(max(time, self.start_ns), self.end_ns)
        actions: dict[str, Callable[[int, list[str]], bool]] = {
            "begin": self._begin, "end": self._end, "epoch": self._new_epoch, "step": self._a_step,
            "metric": self._metric,
        }  # fmt: skip
        action = actions.get(words[0])
        if action is None or not action(time, words[1:]):
            self._complain(line)

    def _complain(self, line: str) -> None:
        self._odd += 1
        if self._odd <= _COMPLAINTS_AT_MOST:
            self.stream.notes.append(Health("mark-unknown", "warning", f"This mark was passed over: {line[:200]!r}."))

    def _begin(self, time: int, words: list[str]) -> bool:
        if not words or words[0] not in {*wire.MARK_PHASES, *wire.MARK_IN_FIT}:
            return False
        span = self._span(words[0], words[0], time)
        pairs = (word.partition("=") for word in words[1:])
        self.stream.spans.add_facts(span.number, {key: int(value) for key, _, value in pairs if value.isdigit()})
        self._open.append(span)
        if words[0] in _LOOPS:
            self._step_start, self._step, self._epochs = time, 0, 0
        return True

    def _end(self, time: int, words: list[str]) -> bool:
        names = [span.name for span in self._open]
        if not names or (words and words[0] not in names):
            return False
        while self._open:
            span = self._open.pop()
            if span.name in _LOOPS:
                self._end_epoch(time)
            self.stream.spans.end(span.number, time)
            if not words or span.name == words[0]:
                break
        return True

    def _loop(self) -> _Open | None:
        return next((span for span in reversed(self._open) if span.name in _LOOPS), None)

    def _new_epoch(self, time: int, words: list[str]) -> bool:
        if self._loop() is None or (words and not words[0].isdigit()):
            return False
        self._end_epoch(time)
        self._epoch = self._span("epoch", words[0] if words else str(self._epochs), time)
        self._epochs = int(self._epoch.name) + 1
        self._step_start, self._step = time, 0
        return True

    def _end_epoch(self, time: int) -> None:
        if self._epoch is not None:
            self.stream.spans.end(self._epoch.number, time)
            self._epoch = None

    def _a_step(self, time: int, _words: list[str]) -> bool:
        """A step is over, which began where the one before ended."""
        loop = self._loop()
        if loop is None:
            return False
        if self._epoch is None and loop.name == "fit":
            start = self._step_start
            self._new_epoch(start, [])
        number = int(self._epoch.name) if self._epoch is not None else wire.NONE
        start = min(self._step_start, time)
        self.stream.steps.append((_THREAD, loop.number, number, self._step, 1, start, time, 0, 0, 0, 0, 0, 0))
        self._step_start, self._step = time, self._step + 1
        return True

    def _metric(self, time: int, words: list[str]) -> bool:
        loop = self._loop()
        try:
            name, value = words[0], float(words[1])
        except (IndexError, ValueError):
            return False
        if loop is None:
            return False
        number = int(self._epoch.name) if self._epoch is not None else wire.NONE
        self.stream.metrics.add(loop.number, number, wire.NONE, time, name, value)
        return True

    def finish(self) -> Stream:
        """No more lines: what is open lasts until the end."""
        if self._odd > _COMPLAINTS_AT_MOST:
            text = f"{self._odd} marks were passed over."
            self.stream.notes.append(Health("mark-unknown", "warning", text, self._odd))
        for span in self._open:
            self.stream.spans.end(span.number, self.end_ns)
        self._end_epoch(self.end_ns)
        self.stream.last_ns = self.end_ns
        return self.stream
