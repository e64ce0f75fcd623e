"""The packets of a Perfetto trace."""

from __future__ import annotations

from dlprof.ingest.parse.perfetto_packets import EventType, Packets, Track, TrackEvent
from tests.unit.ingest.formats.samples import event, packet, track
from tests.unit.ingest.protobuf import field, number


def test_an_event_has_its_track_name_and_category_and_a_track_its_parent() -> None:
    """Texts that are interned are forgotten where their writer begins anew."""
    texts = packet(field(12, field(2, number(1, 6) + field(2, b"gemm"))), number(13, 1))
    again = packet(number(13, 1))
    packets = Packets(track(8, "q", 7) + texts + event(5, 1, 8, number(10, 6)) + again + event(9, 2, 8, number(10, 6)))

    assert list(packets.events()) == [
        TrackEvent(EventType.BEGIN, 5, 8, "gemm", ""),
        TrackEvent(EventType.END, 9, 8, "", ""),
    ]
    assert packets.tracks == {8: Track("q", 7)}


def test_an_event_of_chromes_format_has_its_duration() -> None:
    """Phase X of a legacy event, in microseconds."""
    legacy = field(6, number(2, ord("X")) + number(3, 12))
    packets = Packets(packet(number(8, 5), field(11, number(11, 8) + field(23, b"n") + legacy)))

    assert list(packets.events()) == [TrackEvent(EventType.WHOLE, 5, 8, "n", "", 12_000)]


def test_lost_packets_and_other_sources_are_counted() -> None:
    """By the field that other sources have."""
    packets = Packets(packet(number(42, 1)) + packet(field(1, b"x")) + packet(field(1, b"x")))

    assert list(packets.events()) == []
    assert packets.lost == 1
    assert dict(packets.others) == {1: 2}


def test_the_first_of_several_categories_counts_whichever_way_they_are_written() -> None:
    """One by one, or as the bytes of all numbers; these may take more than one byte each."""
    known = field(1, number(1, 300) + field(2, b"kernel")) + field(1, number(1, 5) + field(2, b"other"))
    texts = packet(field(12, known), number(13, 1))
    one_by_one = event(5, 1, 8, number(3, 300), number(3, 5))
    as_bytes = event(6, 1, 8, field(3, b"\xac\x02\x05"))
    packets = Packets(texts + one_by_one + as_bytes)

    assert [found.category for found in packets.events()] == ["kernel", "kernel"]
