"""A run as packets of Perfetto; that Perfetto's own trace processor reads them is an integration test."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from dlprof.analysis import clocks
from dlprof.errors import NoInputError
from dlprof.export import perfetto
from dlprof.store.run import Run
from tests.unit import ranked_runs
from tests.unit.export.run_of_everything import HOSTILE, whole
from tests.unit.export.writing import content
from tests.unit.runs import S, make, manifest

ZERO_NS = 10**15
"""The run's zero on CLOCK_MONOTONIC."""
TIMESTAMP, EVENT, INTERNED, CLOCKS, TRACK = 8, 11, 12, 6, 60


def fields(data: int | bytes) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of each field of a message."""
    assert isinstance(data, bytes)
    at = 0

    def varint() -> int:
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        number, kind = divmod(varint(), 8)
        if kind == 0:
            yield number, varint()
        else:
            length = varint() if kind == 2 else 8
            yield number, data[at : at + length]
            at += length


def inner(value: int | bytes) -> dict[int, int | bytes]:
    """A message within another; of repeated fields the last."""
    assert isinstance(value, bytes)
    return dict(fields(value))


def packets(run: Run) -> list[dict[int, int | bytes]]:
    """The packets of a trace."""
    return [inner(value) for _, value in fields(content(perfetto, run))]


def track_names(run: Run) -> list[str]:
    """Names of tracks that have one, in order."""
    tracks = [inner(packet[TRACK]) for packet in packets(run) if TRACK in packet]
    return [track[2].decode() for track in tracks if isinstance(track.get(2), bytes)]  # type: ignore[union-attr]


def test_the_first_packet_has_both_clocks(tmp_path: Path) -> None:
    """Monotonic, and what the wall clock showed at the run's zero."""
    first, *_ = packets(whole(tmp_path / "run"))

    clocks = [inner(value) for number, value in fields(first[CLOCKS]) if number == 1]
    assert clocks == [{1: 3, 2: ZERO_NS}, {1: 1, 2: 1_800_000_000 * S}]


def test_without_a_wall_clock_there_is_the_monotonic_one(tmp_path: Path) -> None:
    """As in runs of foreign traces."""
    run = whole(tmp_path / "run", manifest(clock={"origin_perf_ns": ZERO_NS}))

    first, *_ = packets(run)

    assert [inner(value) for number, value in fields(first[CLOCKS]) if number == 1] == [{1: 3, 2: ZERO_NS}]


def test_every_begin_has_its_end_and_none_is_before_it(tmp_path: Path) -> None:
    """On each track, in the order of the file."""
    depth: dict[int | bytes, int] = {}
    times: dict[int | bytes, int] = {}
    for packet in packets(whole(tmp_path / "run")):
        event = inner(packet[EVENT]) if EVENT in packet else {}
        if event.get(9) in (1, 2):
            track, time_ns = event[11], packet[TIMESTAMP]
            assert isinstance(time_ns, int)
            assert time_ns >= times.get(track, 0)
            times[track] = time_ns
            depth[track] = depth.get(track, 0) + (1 if event[9] == 1 else -1)
            assert depth[track] >= 0

    assert set(depth.values()) == {0}
    assert min(times.values()) >= ZERO_NS


def test_names_are_written_once_and_before_they_are_used(tmp_path: Path) -> None:
    """A packet holds their numbers."""
    known: set[int | bytes] = set()
    texts: list[int | bytes] = []
    for packet in packets(whole(tmp_path / "run")):
        if INTERNED in packet:
            for number, value in fields(packet[INTERNED]):
                if number == 2:
                    known.add(inner(value)[1])
                    texts.append(inner(value)[2])
        event = inner(packet[EVENT]) if EVENT in packet else {}
        if event.get(9) == 1:
            assert event[10] in known

    assert HOSTILE.encode() in texts
    assert len(set(texts)) == len(texts)


def test_tracks_are_those_of_the_timeline(tmp_path: Path) -> None:
    """Streams, and the further track of what overlaps in part."""
    names = track_names(whole(tmp_path / "run"))

    assert {"phases", "stream 7", "stream 7 #2", "stream 9", "GPU 0"} <= set(names)


def test_a_run_whose_process_is_not_known_is_a_group_by_its_name(tmp_path: Path) -> None:
    """A process without a number would not be shown."""
    told = manifest(process={"pid": None, "exit_code": 0, "signal": None, "wall_ns": 10 * S})

    assert "run" in track_names(whole(tmp_path / "run", told))


def test_a_large_trace_is_written_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is the same."""
    run = whole(tmp_path / "run")
    at_once = content(perfetto, run)
    monkeypatch.setattr(perfetto, "_FLUSH_BYTES", 64)

    assert content(perfetto, run) == at_once


def test_a_run_without_times_is_refused(tmp_path: Path) -> None:
    """It says so."""
    with pytest.raises(NoInputError, match="nothing with a time"):
        perfetto.write(make(tmp_path / "run"), io.BytesIO())


def test_each_rank_of_a_training_is_a_process_on_one_axis(tmp_path: Path) -> None:
    """By its rank; groups beside it are named by that, too."""
    members = ranked_runs.make(tmp_path / "ddp", {0: 5, 1: 12}).members
    out = io.BytesIO()

    assert perfetto.write_ranks(members, clocks.of_ranks(members), out) == "2 ranks"

    tracks = [inner(value) for _, packet in fields(out.getvalue()) if (value := inner(packet).get(TRACK)) is not None]
    processes = [inner(track[3])[6] for track in tracks if 3 in track]
    assert processes == [b"rank 0", b"rank 1"]
    assert [inner(track[3])[1] for track in tracks if 3 in track] == [42, (1 << 22) + 1]
    assert len({track[1] for track in tracks}) == len(tracks)
