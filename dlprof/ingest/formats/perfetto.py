"""Reads Perfetto's own traces (protobuf): track events, as dlprof, rocprofv3 and programs with Perfetto's SDK write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats import own_exports
from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels import by_process
from dlprof.ingest.kernels.events import CPU, EventRow
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.ingest.parse.chrome import judge_unpaired
from dlprof.ingest.parse.open_events import OpenEvents
from dlprof.ingest.parse.packed import mapped
from dlprof.ingest.parse.perfetto_packets import EventType, Packets, Track, TrackEvent
from dlprof.ingest.parse.protowire import WireError, fields
from dlprof.ingest.parse.protowire import field as field_at
from dlprof.schema.trace_marks import EXPORTED
from dlprof.schema.vocabulary import EventKind

_DEVICE = re.compile(r"(?:gpu|agent|tpu|xpu)[ :]*\[?(\d{1,4})\]?", re.IGNORECASE)
_KINDS: tuple[tuple[re.Pattern[str], EventKind], ...] = tuple(
    (re.compile(words, re.IGNORECASE), kind)
    for words, kind in (
        (r"annotation|marker|nvtx|roctx|phase|step|span|window", EventKind.ANNOTATION),
        (r"memory_copy|memcpy|memset|transfer", EventKind.TRANSFER),
        (r"kernel", EventKind.KERNEL),
        (r"_api$|runtime|driver", EventKind.RUNTIME),
        (r"^wait$|synchroni", EventKind.WAIT),
        (r"^python", EventKind.PYTHON),
        (r"^input$", EventKind.INPUT),
    )
)
_IDLE = "idle"
_ON_DEVICE = (EventKind.KERNEL, EventKind.TRANSFER)
_DEPTH_AT_MOST = 32
_BATCH = 100_000


def claims(sample: Sample) -> bool:
    """Whether the file begins with packets of Perfetto, one of which has a sequence or a clock."""
    head = sample.head
    if head[:1] != b"\x0a" or ".xplane.pb" in sample.path.name:
        return False
    at, keys = 0, set()
    try:
        for _ in range(20):
            number, value, at = field_at(head, at, 1 << 40)
            if number != 1 or not isinstance(value, tuple) or value[1] > len(head):
                break
            keys |= {key for key, _ in fields(head, *value)}
    except (WireError, IndexError):
        pass
    return 10 in keys and bool(keys & {6, 8, 11, 59, 60})


def read(path: Path) -> FileContent:
    """The slices of all tracks: on those of devices kernels and copies, on the others what their category says.

    Raises:
        ArtifactError: The file is damaged.
    """
    with mapped(path) as data:
        packets = Packets(data)
        reading = _Reading(Trace(path, "perfetto", "perfetto", attribution="range"), packets)
        try:
            for event in packets.events():
                reading.take(event)
        except WireError as error:
            raise ArtifactError(f"damaged: {error}", path=path, offset=error.offset) from error
        return FileContent.of_processes(reading.close())


class _Reading:
    """Pairs begins and ends, track by track."""

    def __init__(self, trace: Trace, packets: Packets) -> None:
        self._trace = trace
        self._packets = packets
        self._open: OpenEvents[TrackEvent] = OpenEvents()
        self._rows: list[EventRow] = []
        self._tracks: list[int] = []
        """The track of each lane."""
        self._instants = self._values = self._odd = self._idle = 0

    def take(self, event: TrackEvent) -> None:
        """Take the next event."""
        if event.type is EventType.BEGIN:
            self._open.begin(event.track, event)
        elif event.type is EventType.END:
            begun = self._open.end(event.track)
            if begun is not None:
                self._add(begun, event.time_ns - begun.time_ns)
        elif event.type is EventType.WHOLE:
            self._add(event, event.dur_ns)
        else:
            self._instants += event.type in (EventType.INSTANT, EventType.OTHER)
            self._values += event.type is EventType.COUNTER

    def _add(self, event: TrackEvent, dur_ns: int) -> None:
        if event.category == _IDLE:
            self._idle += 1
            return
        if dur_ns < 0 or abs(event.time_ns) + dur_ns >= 2**62:
            self._odd += 1
            return
        names = self._path(event.track)
        track = self._packets.tracks.get(event.track, Track())
        device = next((int(match[1]) for name in names if (match := _DEVICE.search(name))), CPU)
        kind = _kind(event.category, on_device=device != CPU)
        device = device if kind in _ON_DEVICE or kind is EventKind.ANNOTATION else CPU
        device = 0 if kind in _ON_DEVICE and device == CPU else min(device, (1 << 15) - 1)
        lane_name = names[0] if names else f"thread {track.thread}" if track.thread else f"track {event.track}"
        key = (event.track, device)
        lane = self._trace.lane(key, Lane(track.process % 2**31, track.thread % 2**62, lane_name, device))
        if lane == len(self._tracks):
            self._tracks.append(event.track)
        number = self._trace.names.number(event.name or event.category or "(no name)")
        self._rows.append(EventRow(kind, number, event.time_ns, dur_ns, lane, device))
        if len(self._rows) >= _BATCH:
            self._flush()

    def _path(self, number: int) -> list[str]:
        """Names of a track and of those that it lies in, the innermost first."""
        return [track.name for track in self._upwards(number) if track.name]

    def _upwards(self, number: int) -> Iterator[Track]:
        """A track and those that it lies in."""
        for _ in range(_DEPTH_AT_MOST):
            track = self._packets.tracks.get(number)
            if track is None:
                break
            yield track
            number = track.parent

    def _process(self, number: int) -> int | None:
        """The process of a track: the one that it lies in, or that its group is named after; None: not told."""
        group = ""
        for track in self._upwards(number):
            if track.process:
                return track.process
            group = track.name or group
        known = self._packets.processes.items()
        same = [pid for pid, name in known if name and (group == name or group.startswith(f"{name}: "))]
        return same[0] if len(same) == 1 else None

    def _flush(self) -> None:
        self._trace.add_rows(self._rows)
        self._rows.clear()

    def close(self) -> list[Trace]:
        """The trace of each process; the first says what was passed over."""
        self._flush()
        trace, packets = self._trace, self._packets
        trace.zero_ns = packets.clocks.zero_ns
        trace.facts = {} if trace.zero_ns is not None else {"clock": "machine"}
        judge_unpaired(trace, self._open.unpaired)
        trace.skip("slices of idle devices", self._idle, "no work: it is found again from what ran")
        trace.skip("instants", self._instants, "they have no duration")
        trace.skip("values of counters", self._values, "there is no table for them")
        trace.skip("packets of other data sources", packets.others.total(), "only track events are read")
        text = f"{self._odd} events of {trace.path.name} have impossible times and were passed over."
        trace.drop("trace-malformed", "warning", text, self._odd)
        if packets.lost:
            text = f"The writers of {trace.path.name} lost packets at {packets.lost:,} places: their buffers were full."
            trace.tell("trace-maker", "warning", text, packets.lost)
        own = next((label for label in sorted(packets.labels) if label.startswith(EXPORTED)), None)
        if own is not None:
            own_exports.tell(trace, own.removeprefix(EXPORTED))
        names = {pid: name for pid, name in packets.processes.items() if name}
        return by_process.told_apart(trace, [self._process(track) for track in self._tracks], names)


def _kind(category: str, *, on_device: bool) -> EventKind:
    known = next((kind for words, kind in _KINDS if words.search(category)), None)
    if known is not None:
        return known
    return EventKind.KERNEL if on_device else EventKind.OPERATOR


READER = Reader("perfetto", "Perfetto (protobuf): dlprof's own, rocprofv3's", claims, read)
