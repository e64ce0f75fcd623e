"""Which of the makers of Chrome traces a file is from, and the traces of no maker that dlprof knows."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from dlprof.ingest.formats import chainer, cntk, kineto, mxnet, tf1_timeline
from dlprof.ingest.formats.registry import Sample
from dlprof.ingest.kernels.trace import CPU, Foreign, Kind, Lane, Trace
from dlprof.ingest.parse.chrome import ChromeFile, Event, as_ns

_EVENT = re.compile(rb'\{[^{}]*"ph"\s*:\s*"[A-Za-z]"')
_PIECE = re.compile(rb"\{(?:[^{}\"]|\"(?:[^\"\\]|\\.)*\"|\{(?:[^{}\"]|\"(?:[^\"\\]|\\.)*\"|\{[^{}]*\})*\})*\}")
_TOP = re.compile(rb'"(schemaVersion|deviceProperties|baseTimeNanoseconds)"\s*:')

Claims = Callable[[dict[str, Any], list[Event]], bool]


def _looks(sample: Sample) -> tuple[dict[str, Any], list[Event]] | None:
    """What the head of a file shows of a Chrome trace: keys at the top, and its first events; None: it is none."""
    head = sample.head
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start not in (b"{", b"[") or not (b'"traceEvents"' in head or _EVENT.search(head)):
        return None
    top = {match[1].decode(): True for match in _TOP.finditer(head)}
    array = head.find(b'"traceEvents"')
    events = []
    for match in _PIECE.finditer(head, head.index(b"[", max(0, array)) if b"[" in head[max(0, array) :] else 0):
        try:
            events.append(msgspec.json.decode(match[0], type=Event, strict=False))
        except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError):
            continue
        if len(events) == 400:
            break
    return top, events


def _claims(of: Claims) -> Callable[[Sample], bool]:
    def claims(sample: Sample) -> bool:
        seen = _looks(sample)
        return seen is not None and of(*seen)

    return claims


claims_tf1 = _claims(tf1_timeline.claims)
claims_chainer = _claims(chainer.claims)
claims_cntk = _claims(cntk.claims)
claims_mxnet = _claims(mxnet.claims)
claims_kineto = _claims(kineto.claims)
claims_any = _claims(lambda _top, events: bool(events) or bool(_top))


def read_any(path: Path) -> Foreign:
    """A Chrome trace of an unknown maker: complete events, and pairs of begin and end, as operators of the host.

    Raises:
        ArtifactError: The file is damaged.
    """
    source = ChromeFile(path)
    trace = Trace(path, "chrome", "chrome")
    rows: list[tuple[int, int, int, int, int, int]] = []
    open_: dict[tuple[Any, Any], list[Event]] = {}
    for piece in source.pieces():
        for event in piece:
            if event.ph == "X":
                rows.append(_row(trace, event, event.ts, event.ts + max(0.0, event.dur)))
            elif event.ph == "B":
                open_.setdefault((event.pid, event.tid), []).append(event)
            elif event.ph == "E" and open_.get((event.pid, event.tid)):
                begun = open_[event.pid, event.tid].pop()
                rows.append(_row(trace, begun, begun.ts, event.ts))
            elif event.ph == "M" and event.name == "thread_name" and event.args is not None:
                trace.rename_lane((event.pid, event.tid), str(event.args.name))
    if rows:
        names = ("kind", "name", "start", "dur", "device", "lane")
        trace.add(**dict(zip(names, zip(*rows, strict=True), strict=True)))
    source.judge(trace)
    return Foreign("chrome", trace, health=trace.health)


def _row(trace: Trace, event: Event, start: float, end: float) -> tuple[int, int, int, int, int, int]:
    thread = event.tid if isinstance(event.tid, int) else 0
    process = event.pid if isinstance(event.pid, int) else 0
    lane = trace.lane((event.pid, event.tid), Lane(process % 2**31, thread % 2**62, str(event.tid)))
    dur = max(0, as_ns(end) - as_ns(start))
    return Kind.OPERATOR, trace.names.number(str(event.name)), as_ns(start), dur, CPU, lane
