"""What the head of a file shows of a trace in Chrome's format: enough to tell who made it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import msgspec

from dlprof.ingest.parse.chrome import Event

EVENTS_AT_MOST = 400
_EVENT = re.compile(rb'\{[^{}]*"ph"\s*:\s*"[A-Za-z]"')
_PIECE = re.compile(rb"\{(?:[^{}\"]|\"(?:[^\"\\]|\\.)*\"|\{(?:[^{}\"]|\"(?:[^\"\\]|\\.)*\"|\{[^{}]*\})*\})*\}")
_TOP = re.compile(rb'"(schemaVersion|deviceProperties|baseTimeNanoseconds)"\s*:')


@dataclass(frozen=True)
class ChromeHead:
    """The head of a trace.

    Attributes:
        keys: Of the keys beside the events those that dialects are told by.
        events: The first events.
    """

    keys: frozenset[str]
    events: tuple[Event, ...]

    def process_names(self) -> set[str]:
        """What the metadata among the events call processes, and other things with a name."""
        named = (e.args.name for e in self.events if e.ph == "M" and e.args is not None)
        return {str(name) for name in named if name is not None}


def chrome_head(head: bytes) -> ChromeHead | None:
    """The first bytes of a file as the head of a trace; None: it is none."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start not in (b"{", b"[") or not (b'"traceEvents"' in head or _EVENT.search(head)):
        return None
    return ChromeHead(frozenset(match[1].decode() for match in _TOP.finditer(head)), tuple(_events(head)))


def _events(head: bytes) -> list[Event]:
    array = max(0, head.find(b'"traceEvents"'))
    bracket = head.find(b"[", array)
    events: list[Event] = []
    for match in _PIECE.finditer(head, max(0, bracket)):
        try:
            events.append(msgspec.json.decode(match[0], type=Event, strict=False))
        except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError):
            continue
        if len(events) == EVENTS_AT_MOST:
            break
    return events
