"""Reads py-spy's files: speedscope (JSON), raw (folded stacks) and chrometrace (JSON); the first two of others, too."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from dlprof.ingest.artifact import ArtifactError, Health, Skipped
from dlprof.ingest.file_names import FileNames
from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.limits import budget
from dlprof.ingest.parse.chrome import Args, ChromeFile
from dlprof.ingest.parse.packed import opened, whole
from dlprof.ingest.parse.sampled_stacks import Frame, FrameEvent, ThreadNames, intervals
from dlprof.ingest.parse.text_files import NS_AT_MOST, text_lines, whole_in
from dlprof.schema.tables import TABLES
from dlprof.schema.vocabulary import WAITING_FUNCTIONS

RECORD_LINES_AT_MOST = 1000
FRAME_CHARACTERS_AT_MOST = 10_000
_OWN_TIME = "[self]"
"""What pyinstrument opens in a function while it calls nothing."""
_EVENTED = "evented"
"""A profile of speedscope that opens and closes frames, instead of samples."""
ASSUMED_NS = 10_000_000
"""Time between samples where a file does not say it: py-spy takes 100 a second unless told otherwise (ns)."""
_LINE_AT_MOST = (1 << 31) - 1
_NS = {"nanoseconds": 1, "microseconds": 1e3, "milliseconds": 1e6, "seconds": 1e9, "none": ASSUMED_NS}
_SCHEMA = "speedscope.app/file-format-schema"
_THREADS = (
    re.compile(r'(?:Process [0-9]+ )?Thread (0x[0-9A-Fa-f]{1,16}|[0-9]{1,19}) "(.*)"', re.DOTALL),
    re.compile(r"thread \(([0-9]{1,19})\)(?:: (.*))?", re.DOTALL),
)
_WHOLE_PROCESS = re.compile(r'process [0-9]+:".*?"(?:;|(?= [0-9]+$))', re.DOTALL)
_PROCESS = re.compile(r'process [0-9]+:"')
_COUNT = re.compile(r" ([0-9]{1,12})$")
_FRAME = re.compile(r"(.*) \((.*?)(?::([0-9]{1,10}))?\)", re.DOTALL)
_FOLDED = re.compile(
    r'(?:process [0-9]+:"|thread \([0-9]+\)|[^;\n]{1,999} \([^;\n]{1,999}:[0-9]+\)(?:;| [0-9]+\r?$))', re.MULTILINE
)
_FOLDED_END = re.compile(r"\([^;\n]{1,999}:[0-9]+\) [0-9]+\r?$", re.MULTILINE)
_OF_OTHERS = re.compile(r"(?:[^;\n]{1,999}(?:;[^;\n]{1,999}){1,500} [0-9]{1,12}\r?\n){2}")
"""Folded stacks of other makers begin so, whose frames need have no files (`stackcollapse-perf.pl`, async-profiler)."""
_EMPTY = re.compile(r"(?: [0-9]{1,12}\r?\n)+")
"""Stacks without a frame, of samples in which py-spy found no function of Python: a thread that begins or ends."""
_TRAMPOLINE = re.compile(r"py::(.+):(/.*\.py)", re.DOTALL)
"""A function of Python as Linux perf sees it (`python -X perf`)."""
_FILENAME = re.compile(r'"args"\s*:\s*\{[^{}]*"filename"')
_BEGIN_OR_END = re.compile(r'"ph"\s*:\s*"[BE]"')
_COMPLETE = re.compile(r'"ph"\s*:\s*"X"')


Thread = tuple[int, str | None]
"""Number and name; None: py-spy knows none."""
_ROW = ("thread_id", "thread", "start_ns", "dur_ns", "stack_id")
_ROW_BYTES = 200
"""A row of stacks while it is read, and its share of what is kept by thread (bytes)."""


def claims(sample: Sample) -> bool:
    """Whether the file is of py-spy, or stacks of another sampler in speedscope's format."""
    text = _without_empty(sample.text)
    if text.startswith("{"):
        return _SCHEMA in text
    if text.startswith("["):
        return bool(_FILENAME.search(text) and _BEGIN_OR_END.search(text)) and not _COMPLETE.search(text)
    return _is_own(text) or _OF_OTHERS.match(text) is not None


def _without_empty(text: str) -> str:
    """A text without what is empty at its begin: blanks, and stacks without a frame."""
    text = text.lstrip("\ufeff\t\r\n")
    empty = _EMPTY.match(text)
    return text[empty.end() if empty else 0 :].lstrip("\ufeff \t\r\n")


def _is_own(text: str) -> bool:
    """Whether folded stacks are as py-spy writes them."""
    return bool(_FOLDED.match(text) and _FOLDED_END.search(text))


def read(path: Path) -> FileContent:
    """The tables `stacks` and `frames`; each thread's time begins at 0, but for chrometrace, which has a clock.

    Raises:
        ArtifactError: The file is damaged.
    """
    try:
        with opened(path) as source:
            first = source.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        if first == b"{":
            return _read_speedscope(path)
        return _read_chrometrace(path) if first == b"[" else _read_raw(path)
    except (OSError, EOFError, zlib.error, ValueError, TypeError, OverflowError, pa.ArrowException) as error:
        raise ArtifactError(f"damaged: {error}", path=path) from error


@dataclass
class _Stacks:
    """Stacks as they are read; a thread's equal stacks one right after the other are merged."""

    known: dict[tuple[Frame, ...], int] = field(default_factory=dict)
    _columns: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in _ROW})
    _last: dict[Any, int] = field(default_factory=dict)
    """The last row of each thread."""
    _names: ThreadNames = field(default_factory=ThreadNames)

    def add(self, thread: Thread, time_ns: tuple[int, int], stack: tuple[Frame, ...], key: Any = None) -> None:
        """Add a stack: of which thread (number, name), from when and for how long, and with which frames."""
        start, dur = time_ns
        if not stack or dur <= 0:
            return
        if len(stack) > budget().limits.depth or start + dur > NS_AT_MOST or thread[0] >> 63:
            raise ValueError("a depth, time or thread number is out of range")
        number, last, columns = self._number(stack), self._last.get(key), self._columns
        stands = last is not None and columns["stack_id"][last] == number
        if last is not None and stands and columns["start_ns"][last] + columns["dur_ns"][last] == start:
            columns["dur_ns"][last] += dur
            return
        budget().hold(_ROW_BYTES, "stacks")
        self._last[key] = len(columns["start_ns"])
        for name, value in zip(_ROW, (thread[0], self._names.name(*thread), start, dur, number), strict=True):
            columns[name].append(value)

    def _number(self, stack: tuple[Frame, ...]) -> int:
        number = self.known.get(stack)
        if number is None:
            number = self.known[stack] = len(self.known)
            characters = sum(len(frame.function) + len(frame.file) for frame in stack)
            budget().hold_texts(1 + len(stack), characters, "distinct stacks")
        return number

    def content(self, name: str, facts: dict[str, Any], health: list[Health]) -> FileContent:
        """The tables."""
        size = len(self._columns["start_ns"])
        process = {"host": [""] * size, "rank": [0] * size, "pid": [0] * size}
        places = {
            "stack_id": [number for stack, number in self.known.items() for _ in stack],
            "depth": [depth for stack in self.known for depth in range(len(stack))],
        }
        said = {key: [getattr(frame, key) for stack in self.known for frame in stack] for key in Frame._fields}
        tables = {
            "stacks": pa.table({**process, **self._columns}, schema=TABLES["stacks"]),
            "frames": pa.table({**places, **said}, schema=TABLES["frames"]),
        }
        return FileContent(name, tables=tables, facts=facts, health=health)


def _without_time(path: Path) -> Health:
    text = f"{path.name} has counts but no times: its samples are laid one after the other, 10 ms each (100 a second)."
    return Health("stacks-without-time", "warning", text)


def _without_idle(path: Path, stacks: _Stacks, samples: int | None) -> list[Health]:
    """That threads which sleep may be missing: py-spy does not say whether it was told to keep them."""
    if any(stack[-1].function in WAITING_FUNCTIONS for stack in stacks.known):
        return []
    has = "does not say how many samples it has" if samples is None else f"has {samples:,} samples"
    text = (
        f"{path.name} {has}, none of them of a thread that waits: py-spy leaves those out unless it is told --idle. "
        "Shares are of samples, of which a program that sleeps has few, not of the time that it took."
    )
    return [Health("stacks-idle-unknown", "warning", text, samples or 0)]


def _of_unknown_counts(path: Path) -> Health:
    text = (
        f"{path.name} does not say what its counts are (samples, or what else its maker counted): shares are right, "
        "times are made up, 10 ms for each."
    )
    return Health("stacks-without-time", "warning", text)


def _summed_up(path: Path) -> Health:
    text = (
        f"{path.name} tells frames by their begins and ends, where some makers (pyinstrument) put equal calls "
        "together: how long each took is told then, not when."
    )
    return Health("stacks-summed-up", "info", text)


def _thread(text: str) -> Thread | None:
    """The thread, of what py-spy calls it."""
    for pattern in _THREADS:
        match = pattern.fullmatch(text)
        if match:
            return int(match[1], 16 if match[1].startswith("0x") else 10), match[2] or None
    return None


class _SharedFrame(msgspec.Struct):
    name: str
    file: str | None = None
    line: int | None = None


class _Shared(msgspec.Struct):
    frames: list[_SharedFrame]


class _Edge(msgspec.Struct):
    """A frame is opened, or closed."""

    type: str
    frame: int
    at: float


class _Profile(msgspec.Struct):
    type: str
    name: str
    unit: str
    samples: list[list[int]] = msgspec.field(default_factory=list)
    weights: list[float] = msgspec.field(default_factory=list)
    start: float = msgspec.field(default=0.0, name="startValue")
    events: list[_Edge] = msgspec.field(default_factory=list)


class _Speedscope(msgspec.Struct):
    profiles: list[_Profile]
    shared: _Shared
    exporter: str | None = None


def _read_speedscope(path: Path) -> FileContent:
    try:
        told = msgspec.json.decode(whole(path).removeprefix(b"\xef\xbb\xbf"), type=_Speedscope)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ArtifactError(f"not of speedscope: {error}", path=path) from error
    frames = [_framed(frame.name, frame.file, frame.line) for frame in told.shared.frames]
    stacks = _Stacks()
    profiles = [_add_profile(stacks, number, profile, frames) for number, profile in enumerate(told.profiles)]
    if not stacks.known:
        raise ArtifactError("there are no stacks in it", path=path)
    samples = sum(profile["samples"] for profile in profiles)
    facts = {"exporter": told.exporter, "profiles": profiles, "samples": samples}
    health = [_without_time(path)] if any(profile.unit == "none" for profile in told.profiles) else []
    if any(profile.type == _EVENTED for profile in told.profiles):
        health.append(_summed_up(path))
    if (told.exporter or "").startswith("py-spy"):
        health += _without_idle(path, stacks, samples)
    return stacks.content("pyspy-speedscope", facts, health)


def _framed(name: str, file: str | None, line: int | None) -> Frame | None:
    """The frame; None for what is put on the stacks besides: processes and threads, a function's own time."""
    number = line or 0
    if not 0 <= number <= _LINE_AT_MOST:
        raise ValueError(f"line {number} of {name[:40]}")
    if not file and (name.startswith("process ") or name == _OWN_TIME or _thread(name)):
        return None
    return Frame(name, file or "", number)


def _add_profile(stacks: _Stacks, key: int, profile: _Profile, frames: list[Frame | None]) -> dict[str, Any]:
    what = f"profile {key} ({profile.name[:40]})"
    if profile.type not in ("sampled", _EVENTED) or profile.unit not in _NS:
        raise ValueError(f"{what} is {profile.type[:20]} in {profile.unit[:20]}: no times that can be read")
    if profile.type == _EVENTED:
        return _add_evented(stacks, key, profile, frames, what)
    if len(profile.samples) != len(profile.weights):
        raise ValueError(f"{what} has {len(profile.samples)} samples, but {len(profile.weights)} weights")
    thread = _thread(profile.name) or (key + 1, profile.name)
    at, scale = 0, _NS[profile.unit]
    for sample, weight in zip(profile.samples, profile.weights, strict=True):
        if not 0 <= weight * scale <= NS_AT_MOST:
            raise ValueError(f"{what} has a weight of {weight}")
        if sample and not 0 <= min(sample) <= max(sample) < len(frames):
            raise ValueError(f"{what} names a frame that is not there")
        dur = round(weight * scale)
        stacks.add(thread, (at, dur), tuple(f for i in sample if (f := frames[i]) is not None), key)
        at += dur
    return {"name": profile.name, "samples": len(profile.samples), "total_ns": at}


def _add_evented(stacks: _Stacks, key: int, profile: _Profile, frames: list[Frame | None], what: str) -> dict[str, Any]:
    """Add a profile of frames that are opened and closed; its stacks are what is open in between."""
    thread, scale = _thread(profile.name) or (key + 1, profile.name), _NS[profile.unit]
    open_: list[int] = []
    at = total = 0
    for event in profile.events:
        now = (event.at - profile.start) * scale
        if not at <= round(now) <= NS_AT_MOST or not 0 <= event.frame < len(frames):
            raise ValueError(f"{what} goes back in time, or names a frame that is not there")
        if open_ and round(now) > at:
            total += round(now) - at
            stacks.add(thread, (at, round(now) - at), tuple(f for i in open_ if (f := frames[i]) is not None), key)
        at = round(now)
        if event.type == "O" and len(open_) < budget().limits.depth:
            open_.append(event.frame)
        elif event.type != "C" or not open_ or open_.pop() != event.frame:
            raise ValueError(f"{what} closes a frame that is not the last open one, or is too deep")
    return {"name": profile.name, "samples": len(profile.events), "total_ns": total}


def _read_raw(path: Path) -> FileContent:
    stacks = _Stacks()
    ends: dict[Thread, int] = {}
    total = empty = 0
    is_own = False
    for number, record in _records(path):
        is_own = is_own or _is_own(record)
        try:
            thread, stack, count = _unfolded(record)
        except ValueError as error:
            raise ArtifactError(f"line {number}: {error}", path=path) from error
        start = ends.get(thread, 0)
        ends[thread] = start + count * ASSUMED_NS
        stacks.add(thread, (start, count * ASSUMED_NS), stack, thread)
        total += count
        empty += 0 if stack else count
    if not stacks.known:
        raise ArtifactError("there are no stacks in it", path=path)
    name, said = ("pyspy-raw", _without_time(path)) if is_own else ("folded-stacks", _of_unknown_counts(path))
    health = [*(_without_idle(path, stacks, total) if is_own else ()), said]
    content = stacks.content(name, {"samples": total, "threads": len(ends)}, health)
    if empty:
        content.skipped = [Skipped("samples", empty, "their stacks have no frame")]
    return content


def _records(path: Path) -> Iterator[tuple[int, str]]:
    """Stacks, and the numbers of the lines they end in: command lines of processes may hold ends of lines."""
    held = ""
    number = 0
    for number, text in text_lines(path):
        if not held and not text.strip():
            continue
        held = f"{held}\n{text.rstrip()}" if held else text.rstrip()
        if held.count("\n") > RECORD_LINES_AT_MOST:
            raise ArtifactError(f"line {number}: a stack without an end", path=path)
        if _COUNT.search(held) and not _PROCESS.match(_below_processes(held)):
            yield number, held
            held = ""
        elif not held.startswith("process "):
            raise ArtifactError(f"line {number}: a stack without a count", path=path)
    if held:
        raise ArtifactError(f"line {number}: it ends in the middle of a stack", path=path)


def _below_processes(record: str) -> str:
    """A folded stack without the processes that it begins with.

    One by one, not by a repeated group that keeps what it took: Python 3.11 before 3.11.5 matches those wrongly.
    """
    end = 0
    while match := _WHOLE_PROCESS.match(record, end):
        end = match.end()
    return record[end:]


def _unfolded(record: str) -> tuple[Thread, tuple[Frame, ...], int]:
    """Thread, frames and count of a folded stack."""
    end = _COUNT.search(record)
    count = whole_in(end[1]) if end else 0
    rest = _COUNT.sub("", _below_processes(record))
    thread: Thread = (0, "")
    stack = []
    for part in rest.split(";"):
        if len(part) > FRAME_CHARACTERS_AT_MOST:
            raise ValueError(f"a frame of more than {FRAME_CHARACTERS_AT_MOST} characters")
        said = _thread(part)
        if said:
            thread = said
            continue
        traced, match = _TRAMPOLINE.fullmatch(part), _FRAME.fullmatch(part)
        if traced:
            frame = _framed(traced[1], traced[2], 0)
        else:
            frame = _framed(match[1], match[2], int(match[3] or 0)) if match else _framed(part, "", 0)
        if frame is not None and part:
            stack.append(frame)
    return thread, tuple(stack), count


class _AsTheyAre(FileNames):
    """Leaves the names of files as they are."""

    def short(self, path: str) -> str:
        """The name."""
        return path


def _read_chrometrace(path: Path) -> FileContent:
    source = ChromeFile(path)
    stacks = _Stacks()
    threads = set()
    for thread, start_us, end_us, stack in intervals(_events(source), _AsTheyAre("")):
        start, end = round(start_us * 1000), round(end_us * 1000)
        key = id(thread)
        threads.add(key)
        stacks.add((thread.number, thread.name), (start, end - start), stack, key)
    if not threads:
        raise ArtifactError("there are no stacks in it", path=path)
    text = f"{source.malformed} events of {path.name} are damaged, and were left out."
    health = [Health("trace-malformed", "warning", text, source.malformed)] if source.malformed else []
    health += _without_idle(path, stacks, None)
    return stacks.content("pyspy-chrometrace", {"threads": len(threads)}, health)


def _events(source: ChromeFile) -> Iterator[FrameEvent]:
    """Events that begin and end frames, as the reader of our own files knows them."""
    depths: dict[Any, int] = {}
    deepest = budget().limits.depth
    for piece in source.pieces():
        for event in piece:
            if event.ph not in ("B", "E"):
                continue
            key = (event.pid, event.tid)
            depth = depths[key] = max(0, depths.get(key, 0) + (1 if event.ph == "B" else -1))
            said = event.args or Args()
            line, file = said.line or 0, said.filename or ""
            if depth > deepest or not 0 <= line <= _LINE_AT_MOST or not 0 <= event.ts * 1000 <= NS_AT_MOST:
                raise ValueError(f"a depth, line or time ({event.ts} us) is out of range")
            yield FrameEvent(event.pid, event.tid, event.ts, event.ph, str(event.name), file, line)


READER = Reader("py-spy", "py-spy (raw, speedscope, chrometrace), folded stacks", claims, read)
