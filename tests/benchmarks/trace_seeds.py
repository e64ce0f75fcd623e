"""Large traces for the benchmarks: real ones, repeated in time with numbers of their own."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from dlprof.ingest.parse import protowire

_NUMBERED = {
    "External id": "launch",
    "External Id": "launch",
    "correlation": "launch",
    "id": "launch",
    "Sequence number": "autograd",
    "Ev Idx": "event",
    "Python id": "python",
    "Python parent id": "python",
}
"""Numbers that must differ from repetition to repetition; those of one kind are matched with each other."""


class KinetoSeed:
    """A trace of torch.profiler that is written again and again, one after the other in time."""

    def __init__(self, path: Path) -> None:
        text = path.read_bytes()
        found = json.loads(gzip.decompress(text) if text[:2] == b"\x1f\x8b" else text)
        events = found.pop("traceEvents")
        self._top = found
        self._body = [e for e in events if e.get("ph") in set("Xsft") and e.get("cat") != "Trace"]
        self._once = [e for e in events if e.get("ph") == "M"]
        starts = [e["ts"] for e in self._body]
        self._span = int(max(e["ts"] + e.get("dur", 0) for e in self._body) - min(starts)) + 1000
        self._slots = [(e, "ts", e["ts"], self._span) for e in self._body]
        self._number()
        self._steps = [
            (e, int(e["name"][13:])) for e in self._body if re.fullmatch(r"ProfilerStep#\d+", str(e.get("name", "")))
        ]

    def _number(self) -> None:
        """Count all numbers from 1 on, so that they stay small, and remember where they stand."""
        ranks: dict[str, dict[int, int]] = {kind: {} for kind in _NUMBERED.values()}
        places = []
        for event in self._body:
            for holder in (event, event.get("args") or {}):
                for key in _NUMBERED.keys() & holder.keys():
                    value = holder[key]
                    if type(value) is int and value > 0 and (holder is event) == (key == "id"):
                        rank = ranks[_NUMBERED[key]]
                        places.append((holder, key, rank.setdefault(value, len(rank) + 1)))
        self._slots += [(holder, key, rank, len(ranks[_NUMBERED[key]])) for holder, key, rank in places]

    def write(self, path: Path, events: int) -> int:
        """Write about so many events; how many they were."""
        repetitions = max(1, round(events / len(self._body)))
        steps = 1 + max((number for _, number in self._steps), default=0)
        with path.open("wb") as target:
            target.write(msgspec.json.encode(self._top)[:-1] + b',"traceEvents": [\n')
            target.write(self._text(self._once))
            for repetition in range(repetitions):
                for holder, key, base, stride in self._slots:
                    holder[key] = base + stride * repetition
                for event, number in self._steps:
                    event["name"] = f"ProfilerStep#{number + steps * repetition}"
                target.write((b",\n" if repetition or self._once else b"") + self._text(self._body))
            target.write(b"\n]}\n")
        return repetitions * len(self._body)

    @staticmethod
    def _text(events: list[dict[str, Any]]) -> bytes:
        return msgspec.json.format(msgspec.json.encode(events), indent=0)[1:-1]


_MATCHED = ("correlation_id", "run_id", "_p", "_c")
"""Stats of XSpace events whose numbers must differ from repetition to repetition."""
_U64 = 2**64 - 1


def varint(value: int) -> bytes:
    """A number as protocol buffers write it."""
    value &= _U64
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)


def message(number: int, content: bytes) -> bytes:
    """A field that holds bytes."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def parts(data: bytes) -> Iterator[tuple[int, Any, bytes]]:
    """The fields of a message: number, value (a number, or bytes), and the bytes of the whole field."""
    at = 0
    while at < len(data):
        number, value, end = protowire.field(data, at, len(data))
        yield number, value if isinstance(value, int) else data[slice(*value)], data[at:end]
        at = end


def values(data: bytes) -> dict[int, Any]:
    """The last value of each field."""
    return {number: value for number, value, _ in parts(data)}


@dataclass(frozen=True)
class _Event:
    """An event of an XSpace line: what stands before its offset and behind it, and the stats to be renumbered."""

    before: bytes
    offset: int | None
    behind: bytes
    stats: tuple[tuple[bytes, int, int], ...]

    @classmethod
    def read(cls, event: bytes, matched: set[int]) -> _Event:
        """An event whose stats in `matched` hold numbers of a single launch."""
        before, behind, stats = b"", b"", []
        offset: int | None = 0
        for number, value, text in parts(event):
            if number == 2:
                offset = protowire.signed(value)
                continue
            numbered = _numbered(values(value), matched) if number == 4 else None
            if numbered:
                stats.append(numbered)
            elif number < 2:
                before += text
            else:
                behind += text
                offset = None if number == 5 else offset
        return cls(before, offset, behind, tuple(stats))

    def text(self, shift: int, repetition: int) -> bytes:
        """The event, later by `shift` (ps)."""
        content = self.before if self.offset is None else self.before + b"\x10" + varint(self.offset + shift)
        content += self.behind
        for head, base, stride in self.stats:
            content += message(4, head + varint(base + stride * repetition))
        return message(4, content)


def _numbered(stat: dict[int, Any], matched: set[int]) -> tuple[bytes, int, int] | None:
    """The head of a stat to be renumbered, its number, and by how much it grows; small ones count, large are random."""
    kind = next((kind for kind in (3, 4) if kind in stat), None)
    if kind is None or stat.get(1) not in matched:
        return None
    stride = 1 << 20 if stat[kind] < 1 << 20 else 1 << 40
    return b"\x08" + varint(stat[1]) + varint(kind << 3), stat[kind], stride


class XSpaceSeed:
    """An XSpace that is written again and again, one after the other in time."""

    def __init__(self, path: Path) -> None:
        self._fields = list(parts(path.read_bytes()))
        lines = [line for n, plane, _ in self._fields if n == 1 for m, line, _ in parts(plane) if m == 3]
        events = [event for line in lines for n, event, _ in parts(line) if n == 4]
        found = [values(event) for event in events]
        self._span = 10**9 + max((event.get(2, 0) + event.get(3, 0) for event in found), default=0)
        self._weight = sum(len(event) + 3 for event in events)
        self._events = len(events)

    def write(self, path: Path, size: int) -> int:
        """Write about so many bytes; how many events they hold."""
        repetitions = max(1, round(size / self._weight))
        with path.open("wb") as target:
            for number, value, text in self._fields:
                target.write(message(1, self._plane(value, repetitions)) if number == 1 else text)
        return self._events * repetitions

    def _plane(self, plane: bytes, repetitions: int) -> bytes:
        entries = [values(entry) for number, entry, _ in parts(plane) if number == 5]
        names = {entry.get(1, 0): values(entry[2]).get(2, b"").decode("utf-8", "replace") for entry in entries}
        matched = {key for key, name in names.items() if name in _MATCHED}
        return b"".join(
            message(3, self._line(value, matched, repetitions)) if number == 3 else text
            for number, value, text in parts(plane)
        )

    def _line(self, line: bytes, matched: set[int], repetitions: int) -> bytes:
        head = b"".join(text for number, _, text in parts(line) if number != 4)
        events = [_Event.read(value, matched) for number, value, _ in parts(line) if number == 4]
        return head + b"".join(event.text(self._span * n, n) for n in range(repetitions) for event in events)
