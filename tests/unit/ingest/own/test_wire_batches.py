"""Records that are taken in together are what they are one by one."""

from __future__ import annotations

import random
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from dlprof_probes import wire
from dlprof_probes.wire import Record, SpanKind

from dlprof.ingest.own import wire_batches, wire_records
from dlprof.ingest.own.wire import read
from dlprof.ingest.own.wire_stream import Bounds, Stream

START = 5_000_000_000_000
TEXTS = (SpanKind.PREDICT, SpanKind.CALLBACKS, SpanKind.EPOCH, "7", "score", "a.py")
"""By their numbers, from 1 on."""


def call(number: int, time: int, thread: int = 7) -> list[bytes]:
    """A call of `predict` as the probe tells it: two spans, an epoch, facts, a step."""
    return [
        begin(number, 1, time, thread=thread),
        wire.record(Record.DETAIL, wire.STRING_HEAD.pack(number) + b'{"as": {"model": 1}}'),
        begin(number + 1, 2, time + 10, thread=thread),
        end(number + 1, time + 20),
        begin(number + 2, 3, time + 21, name=4, thread=thread),
        wire.record(Record.DETAIL, wire.STRING_HEAD.pack(number) + b'{"batch_size": 32, "batches": 1}'),
        wire.STEP_RECORD.pack(Record.STEP, wire.STEP.size, thread, number, 0, 0, 1, time + 30, time + 60, *[0] * 5, 2),
        wire.record(Record.GC, wire.GC.pack(time + 61, 2, 0, 1)),
        end(number + 2, time + 70),
        end(number, time + 90),
    ]


def begin(number: int, kind: int, time: int, name: int = 5, thread: int = 7) -> bytes:
    """A span begins."""
    return bytes(wire.record(Record.BEGIN, wire.BEGIN.pack(number, kind, name, thread, time, 6, 20)))


def end(number: int, time: int) -> bytes:
    """A span ends."""
    return bytes(wire.record(Record.END, wire.END.pack(number, time)))


def string(number: int, text: str) -> bytes:
    """A text."""
    return bytes(wire.record(Record.STRING, wire.STRING_HEAD.pack(number) + text.encode()))


def of_calls(count: int) -> list[bytes]:
    """The records of a program that calls `predict` so often."""
    model = wire.record(Record.DETAIL, wire.STRING_HEAD.pack(1) + b'{"model": {"layers": []}}')
    texts = [string(number, text) for number, text in enumerate(TEXTS, 1)]
    calls = [one for n in range(count) for one in call(2 + 3 * n, START + 100 * n)]
    return [*texts, begin(1, 1, START - 50), model, *calls]


def written(folder: Path, records: list[bytes]) -> Path:
    """A stream of these."""
    path = folder / "inproc.wire"
    path.write_bytes(wire.MAGIC + bytes([wire.VERSION]) + b"".join(records))
    return path


def told(stream: Stream) -> dict[str, Any]:
    """All that a stream holds."""
    found = {one.name: getattr(stream, one.name) for one in fields(stream)}
    return {**found, "spans": list(stream.spans.values()), "steps": list(stream.steps), "details": stream.spans.details}


def both(path: Path, bounds: Bounds) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is read of a stream with its records together, and one by one."""
    with patch.object(wire_batches, "_FEW", 4):
        together = told(read(path, bounds))
    with patch.object(wire_batches, "_FEW", 1 << 30):
        return together, told(read(path, bounds))


def test_calls_are_taken_in_together(tmp_path: Path) -> None:
    """Only texts and collections come one by one."""
    path = written(tmp_path, of_calls(20)[:-1])
    (piece,) = wire_records.pieces(path)
    stream = Stream(path)
    found = wire_batches.Batch.of(stream, piece)
    assert found is not None
    assert {piece.kinds[number] for number in found.others} == {Record.STRING, Record.GC}


def test_a_span_has_its_facts_and_its_end(tmp_path: Path) -> None:
    """That of the last but one call of twenty."""
    stream = read(written(tmp_path, of_calls(20)))
    span = stream.spans[56]
    assert (span.kind, span.name, span.file, span.line) == ("predict", "score", "a.py", 20)
    assert (span.start, span.end) == (START + 1800, START + 1890)
    assert span.detail == {"model": {"layers": []}, "batch_size": 32, "batches": 1}


@pytest.mark.parametrize("piece", [300, 1000, 5000])
@pytest.mark.parametrize("bounds", [Bounds(), Bounds(START), Bounds(START, START + 10**12)])
def test_pieces_of_any_size_give_the_same(tmp_path: Path, piece: int, bounds: Bounds) -> None:
    """Also where a span goes on in the next one."""
    path = written(tmp_path, of_calls(40))
    with patch.object(wire_records, "_PIECE", piece):
        together, alone = both(path, bounds)
    assert together == alone
    assert len(together["spans"]) == 121


ODD = {
    "an end before its begin": end(1, START - 51),
    "an end of nothing": end(5000, START),
    "a second begin": begin(5, 1, START + 5),
    "a kind that nobody told": begin(6000, 77, START + 5),
    "a name that nobody told": begin(6000, 1, START + 5, name=77),
    "an epoch without a number": begin(6000, 3, START + 5),
    "a time before the process": begin(6000, 1, START - 10**12),
    "a time long after": begin(6000, 1, START + 10**15),
    "a thread without a number": begin(6000, 1, START, thread=1 << 63),
    "a text once more": string(5, "another"),
    "half a text": bytes(wire.record(Record.STRING, b"x")),
    "facts that are none": bytes(wire.record(Record.DETAIL, wire.STRING_HEAD.pack(4) + b"[1]")),
    "facts that are no JSON": bytes(wire.record(Record.DETAIL, wire.STRING_HEAD.pack(4) + b"{")),
    "half of facts": bytes(wire.record(Record.DETAIL, b"1")),
    "a short step": bytes(wire.record(Record.STEP, b"123")),
    "a collection that cannot be": bytes(wire.record(Record.GC, wire.GC.pack(START, -5, 0, 1))),
    "a step that ends before it begins": bytes(
        wire.STEP_RECORD.pack(Record.STEP, wire.STEP.size, 7, 1, 0, 0, 1, START + 60, START + 30, *[0] * 5, 2)
    ),
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("place", [7, 100, 300])
def test_an_odd_record_is_taken_as_where_it_is_read_alone(tmp_path: Path, odd: str, place: int) -> None:
    """It is damage, or passed over; what is before it is the same."""
    records = of_calls(40)
    records.insert(place, ODD[odd])
    together, alone = both(written(tmp_path, records), Bounds(START, START + 10**12))
    assert together == alone


@pytest.mark.parametrize("seed", range(40))
def test_any_damage_is_the_same(tmp_path: Path, seed: int) -> None:
    """Bytes that are others, records that are missing, doubled, or at another place."""
    rng = random.Random(seed)
    records = of_calls(15)
    for _ in range(rng.randrange(3)):
        place = rng.randrange(len(records))
        records.insert(rng.randrange(len(records)), records.pop(place) if rng.random() < 0.5 else records[place])
    if rng.random() < 0.5:
        records.pop(rng.randrange(len(records)))
    path = written(tmp_path, records)
    content = bytearray(path.read_bytes())
    for _ in range(rng.randrange(3)):
        content[rng.randrange(10, len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)
    together, alone = both(path, rng.choice([Bounds(), Bounds(START), Bounds(START, START + 10**12)]))
    assert together == alone
