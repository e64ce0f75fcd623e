"""Reads the Chrome trace format (JSON) in pieces, so that memory does not grow with the file.

The events are an array, at the top or under `traceEvents`. The array is cut where one event ends and the next
begins. Whether a place is such a one is not guessed from the text alone: a piece that is cut inside an
event or a string does not parse, and then the next place is tried.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import msgspec

from dlprof.ingest.artifact import MALFORMED, ArtifactError
from dlprof.ingest.kernels.trace import Trace
from dlprof.ingest.limits import budget
from dlprof.ingest.parse.chrome_tables import Table, TableReader
from dlprof.ingest.parse.packed import opened

PIECE_BYTES = 4 << 20
EVENT_BYTES_AT_MOST = 64 << 20
HEAD_BYTES_AT_MOST = 32 << 20
US_AT_MOST = 4e15
"""Times beyond this, in microseconds, do not fit into 64 bits as nanoseconds; no clock gives them."""
_UNTIMED = -5e-324
"""In place of a duration that is left out: a number that no file has, below 0 as those are that cannot be (us)."""
_BLANKS_AT_MOST = 256
_WINDOW = 16384
_BETWEEN = re.compile(rb"\}\s{0,64}+,\s{0,64}+\{")
"""Between two events. More blanks than that are no place to cut at, so that nothing has to be looked at twice."""
_START = re.compile(rb'"traceEvents"\s*:\s*\[')
_STARTS_AT_MOST = 16
_BOM = b"\xef\xbb\xbf"
"""What some programs of Windows put before a text in UTF-8."""
_FIRST_KEY = re.compile(rb'\s*\{\s*("[^"\\]{1,64}")')


class Args(msgspec.Struct, gc=False):
    """What dlprof takes from the arguments of an event, under the names of all dialects."""

    correlation: int | str | None = None
    device: int | str | None = None
    stream: int | str | None = None
    bytes: int | float | str | None = None
    name: str | int | None = None
    op: str | None = None
    sequence: int | None = msgspec.field(default=None, name="Sequence number")
    dims: msgspec.Raw = msgspec.field(default=msgspec.Raw(b""), name="Input Dims")
    filename: str | None = None
    line: int | None = None
    hlo_op: str | None = None
    hlo_module: str | None = None
    long_name: str | None = None
    tf_op: str | None = None
    correlation_id: int | str | None = None
    run_id: int | str | None = None
    step_num: int | str | None = None
    device_type: int | float | str | None = msgspec.field(default=None, name="Device Type")
    device_id: int | float | str | None = msgspec.field(default=None, name="Device Id")
    allocated: int | float | str | None = msgspec.field(default=None, name="Total Allocated")
    reserved: int | float | str | None = msgspec.field(default=None, name="Total Reserved")


class Event(msgspec.Struct, gc=False):
    """One event of the Chrome trace format; times in microseconds."""

    ph: str = ""
    name: str | int | float | None = ""
    cat: str | None = ""
    ts: float = 0.0
    dur: float = _UNTIMED
    pid: int | str | None = 0
    tid: int | str | None = 0
    id: int | str | None = None
    args: Args | None = None


_DECODER = msgspec.json.Decoder(list[Event], strict=False)
_ONE = msgspec.json.Decoder(Event, strict=False)


@dataclass
class ChromeFile:
    """A file in the Chrome trace format.

    Attributes:
        path: The file; `.gz` is told by its first bytes, not by its name.
        top: What stands beside the events: known whole only after the events were read.
        malformed: Events that are no events, and were passed over.
        negative: Events that end before they begin: they count as without a duration.
        untimed: Events whose duration is left out.
    """

    path: Path
    top: dict[str, Any] = field(default_factory=dict)
    malformed: int = 0
    negative: int = 0
    untimed: int = 0
    _consumed: int = 0
    _buffer: bytes = b""

    def pieces(self) -> Iterator[list[Event]]:
        """The events, some thousands at a time.

        Raises:
            ArtifactError: The file is damaged; the offset is one in the unpacked text.
        """
        with opened(self.path) as source, self._errors():
            in_object = self._head(source)
            yield from self._array(source, in_object)

    def blocks(self, reader: TableReader) -> Iterator[Table | list[Event]]:
        """The events, as tables as far as `reader` can make them, else as `pieces` has them.

        Raises:
            ArtifactError: The file is damaged; the offset is one in the unpacked text.
        """
        with opened(self.path) as source, self._errors():
            in_object = self._head(source)
            for block in reader.read(self._buffer, source):
                if isinstance(block, bytes):
                    self._buffer = block
                else:
                    table, size = block
                    self._consumed += size
                    yield table
            yield from self._array(source, in_object)

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """What goes wrong with the file, as the error of readers."""
        try:
            yield
        except (OSError, EOFError, zlib.error) as error:
            raise ArtifactError(f"damaged: {error}", path=self.path, offset=self._consumed) from error
        except RecursionError as error:
            raise ArtifactError("nested too deeply", path=self.path, offset=self._consumed) from error

    def judge(self, trace: Trace) -> None:
        """Tell the trace how many events were passed over, or have times that cannot be."""
        text = f"{self.malformed} events of {self.path.name} are malformed and were passed over."
        trace.drop(MALFORMED, "warning", text, self.malformed)
        if self.negative:
            text = (
                f"{self.negative} events of {self.path.name} have a negative duration: how long they took is not "
                "known, and they count as without duration."
            )
            trace.tell("trace-negative", "warning", text, self.negative)
        if self.untimed:
            text = (
                f"{self.untimed} events of {self.path.name} do not say how long they took: they count as without "
                "duration, and what they took is missing in all sums."
            )
            trace.tell("trace-untimed", "warning", text, self.untimed)

    def _fail(self, message: str, offset: int = 0) -> ArtifactError:
        return ArtifactError(message, path=self.path, offset=self._consumed + offset)

    def _head(self, source: IO[bytes]) -> bool:
        """Read up to the array of events; what follows is in the buffer then. Whether the array is in an object."""
        while True:
            more = source.read(PIECE_BYTES)
            self._buffer += more
            if not self._consumed and self._buffer.startswith(_BOM):
                self._drop(len(_BOM))
            start = self._buffer[:64].lstrip()[:1]
            if start == b"[":
                self._drop(self._buffer.index(b"[") + 1)
                return False
            if start != b"{":
                raise self._fail("neither a JSON object nor an array")
            for match in itertools.islice(_START.finditer(self._buffer), _STARTS_AT_MOST):
                if self._take(self._buffer[: match.start()].rstrip().rstrip(b",") + b"}"):
                    self._drop(match.end())
                    return True
            if not more or len(self._buffer) > min(HEAD_BYTES_AT_MOST, budget().limits.piece_bytes):
                raise self._fail("there is no array traceEvents in it", len(self._buffer))

    def _drop(self, count: int) -> None:
        self._consumed += count
        self._buffer = self._buffer[count:]

    def _take(self, text: bytes) -> bool:
        try:
            top = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return False
        if not isinstance(top, dict):
            return False
        self.top.update(top)
        return True

    def _array(self, source: IO[bytes], in_object: bool) -> Iterator[list[Event]]:
        wanted = PIECE_BYTES
        while True:
            if len(self._buffer) < wanted:
                more = source.read(PIECE_BYTES)
                if not more:
                    break
                self._buffer += more
                continue
            cut = self._cut(wanted)
            if cut is None:
                self._refuse_larger_than_an_event(wanted)
                wanted *= 2
                continue
            wanted = PIECE_BYTES
            events, at = cut
            self._drop(at)
            yield events
        yield self._last(self._buffer, in_object)

    def _refuse_larger_than_an_event(self, size: int) -> None:
        if size > EVENT_BYTES_AT_MOST:
            raise self._fail(f"an event of more than {EVENT_BYTES_AT_MOST >> 20} MB")
        if size > budget().limits.piece_bytes:
            raise budget().exceeded(f"an event of more than {budget().limits.piece_bytes >> 20} MiB")

    def _cut(self, size: int) -> tuple[list[Event], int] | None:
        """The events up to the last place in so many bytes at which they can be cut, and where the next one begins."""
        patterns = [_BETWEEN]
        if key := _FIRST_KEY.match(self._buffer):
            # Most makers begin each event with the same key, and what is nested in an event with another.
            alike = _BETWEEN.pattern + rb"(?=\s{0,64}+" + re.escape(key[1]) + rb")"
            patterns.insert(0, re.compile(alike))
        for pattern in patterns:
            end = size
            for _ in range(8):
                at = self._place_before(pattern, self._buffer, end)
                if at is None:
                    break
                close, next_open = at
                events = self._decoded(b"[" + self._buffer[: close + 1] + b"]")
                if events is not None:
                    return events, next_open
                end = close
        return None

    @staticmethod
    def _place_before(between: re.Pattern[bytes], buffer: bytes, end: int) -> tuple[int, int] | None:
        """The last `}, {` before `end`: where its brackets stand."""
        high = end
        while high > 0:
            low = max(0, high - _WINDOW)
            last = None
            for match in between.finditer(buffer, low, min(end, high + _BLANKS_AT_MOST)):
                last = match
            if last:
                return last.start(), last.end() - 1
            high = low
        return None

    def _decoded(self, text: bytes) -> list[Event] | None:
        """The events of a piece whose times make sense; None where it is no list of JSON objects."""
        try:
            events: list[Event] | None = _DECODER.decode(text)
        except msgspec.ValidationError:
            events = self._leniently(text)
        except UnicodeDecodeError:
            # A name in another encoding must not cost the whole trace.
            replaced = text.decode("utf-8", "replace").encode()
            events = self._leniently(replaced)
        except (msgspec.DecodeError, RecursionError):
            return None
        if events is None:
            return None
        low, high = -US_AT_MOST, US_AT_MOST
        good = [e for e in events if low < e.ts < high and low < e.dur < high and e.ts + e.dur < high]
        self.malformed += len(events) - len(good)
        below = [e.dur for e in good if e.dur < 0 and e.ph == "X"]
        self.untimed += below.count(_UNTIMED)
        self.negative += len(below) - below.count(_UNTIMED)
        return good

    def _leniently(self, text: bytes) -> list[Event] | None:
        """Events one by one, for files in which some are not what they should be."""
        try:
            raw = msgspec.json.decode(text, type=list[msgspec.Raw])
        except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError):
            return None
        events = []
        for value in raw:
            try:
                events.append(_ONE.decode(value))
            except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                self.malformed += 1
        return events

    def _last(self, text: bytes, in_object: bool) -> list[Event]:
        """The last events, and what stands behind them."""
        at = len(text)
        for _ in range(200):
            at = text.rfind(b"]", 0, at)
            if at < 0:
                break
            tail = text[at + 1 :].strip()
            if in_object and not self._is_tail(tail):
                continue
            events = self._decoded(b"[" + text[:at].rstrip().rstrip(b",") + b"]")
            if events is not None:
                if in_object:
                    self._take(b"{" + tail.lstrip(b",") if len(tail) > 1 else b"{}")
                return events
        behind = _behind_array(text) if in_object else None
        if behind is not None:  # too many brackets follow for the search above
            events = self._decoded(b"[" + text[:behind])
            if events is not None and self._take(b"{" + text[behind:].lstrip(b",")):
                return events
        if not in_object:  # the format allows to leave the last bracket out
            events = self._decoded(b"[" + text.rstrip().rstrip(b",") + b"]")
            if events is not None:
                return events
        raise self._fail(*_where(text))

    @staticmethod
    def _is_tail(tail: bytes) -> bool:
        try:
            msgspec.json.decode(b"{" + tail.lstrip(b",") if tail[:1] == b"," else b"{" + tail)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return False
        return True


def judge_unpaired(trace: Trace, count: int) -> None:
    """Tell a trace how many begins had no end, and ends no begin."""
    text = f"{count} events of {trace.path.name} have a begin without an end, or the other way."
    trace.drop("trace-unpaired", "info", text, count)


def thread_number(event: Event) -> int:
    """Number of an event's thread, as far as it is one that a lane can have; 0 where it is a text."""
    return event.tid % 2**62 if isinstance(event.tid, int) else 0


def as_ns(us: float) -> int:
    """A time in microseconds as nanoseconds; a Unix time keeps the digits that a product would lose."""
    whole = int(us // 1)
    return whole * 1000 + round((us - whole) * 1000)


def _behind_array(text: bytes) -> int | None:
    """Where the first character behind an array stands; None where the array is damaged, or nothing follows."""
    try:
        msgspec.json.decode(b"[" + text, type=list[msgspec.Raw])
    except msgspec.DecodeError as error:
        match = re.search(r"trailing characters \(byte (\d+)\)", str(error))
        return int(match[1]) - 1 if match else None
    except (UnicodeDecodeError, RecursionError):
        return None
    return None


def _where(text: bytes) -> tuple[str, int]:
    """What is wrong with the rest of an array, and where in it."""
    try:
        msgspec.json.decode(b"[" + text)
    except msgspec.DecodeError as error:
        match = re.search(r"byte (\d+)", str(error))
        place = int(match[1]) - 1 if match else len(text)
        cut = "Input data was truncated" in str(error)
        told = re.sub(r" \(byte \d+\)", "", str(error))  # that is one in this rest
        return ("it ends in the middle" if cut else f"damaged JSON: {told}"), len(text) if cut else place
    except RecursionError:
        return "nested too deeply", 0
    except UnicodeDecodeError as error:
        return "damaged: text that is not UTF-8", max(0, error.start - 1)
    return "damaged JSON behind the events", len(text)
