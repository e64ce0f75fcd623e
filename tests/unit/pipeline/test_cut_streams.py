"""Whatever became of a stream, its run opens, its times sum to the wall time, and it is said that something is wrong."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from dlprof_probes import wire
from hypothesis import given, settings
from hypothesis import strategies as st

from dlprof.analysis import breakdown
from dlprof.pipeline import sound_tables
from dlprof.report import summary
from dlprof.rundir import RunDir
from dlprof.schema.vocabulary import ProbeState, StreamEnd
from dlprof.store.run import Run
from tests.unit import raw_runs
from tests.unit.raw_runs import MAIN, MS, ORIGIN, S

WALL = 10 * S


def whole_stream(folder: Path) -> bytes:
    """The bytes of the example."""
    folder.mkdir(parents=True, exist_ok=True)
    raw_runs.write_stream(folder / "inproc.wire")
    return (folder / "inproc.wire").read_bytes()


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A whole stream: an import, and a fit with 55 steps in two epochs."""
    return whole_stream(tmp_path_factory.mktemp("stream"))


def opened(folder: Path, content: bytes) -> Run:
    """A run with these bytes as its stream, and no other artifact."""
    shutil.rmtree(folder, ignore_errors=True)
    run = RunDir(folder)
    run.raw.mkdir(parents=True)
    run.write_manifest(raw_runs.manifest(probes=raw_runs.manifest().probes[:1]))
    (run.raw / "inproc.wire").write_bytes(content)
    return sound_tables.stored(run)


def check(run: Run) -> None:
    """Phases and what is unattributed are the wall time, and no moment is claimed twice."""
    report = summary.summarise(run, top=1, diagnosis=None)
    tops = sum(phase.dur_ns for phase in report.phases if phase.parent is None)
    inside = sum(phase.dur_ns for phase in report.phases if phase.parent is not None)
    assert tops + (report.unattributed_ns or 0) == WALL
    assert (report.unattributed_ns or 0) >= (report.unrecorded.dur_ns if report.unrecorded is not None else 0)
    assert inside == sum(phase.dur_ns for phase in report.phases if phase.name == "fit")
    assert all(phase.dur_ns >= 0 for phase in report.phases)
    end = 0
    for row in run.rows("phase_intervals"):
        assert row["start_ns"] == end
        assert row["dur_ns"] > 0
        end += row["dur_ns"]
    assert end == WALL
    tree = breakdown.of_run(run)
    if tree is not None:
        assert sum(tree.leaves.values()) + tree.unattributed_ns == WALL
        assert min(tree.leaves.values(), default=0) >= 0


def is_said(run: Run) -> bool:
    """Whether a warning tells that the stream is not whole, or not as it was written."""
    return any(row["slug"] in ("inproc-cut", "inproc-changed") for row in run.rows("health"))


def cut(folder: Path, content: bytes, length: int) -> None:
    """Open a run whose stream was cut after so many bytes, and look at it."""
    run = opened(folder, content[:length])
    check(run)
    assert is_said(run)
    assert run.manifest.unrecorded is not None
    since = run.manifest.unrecorded.since_ns
    for row in run.rows("phase_intervals"):
        assert row["phase"] == "unattributed" or row["start_ns"] + row["dur_ns"] <= max(since, 100 * MS)


def flipped(folder: Path, content: bytes, places: dict[int, int]) -> None:
    """Open a run in whose stream some bytes are others, and look at it."""
    changed = bytearray(content)
    for place, mask in places.items():
        changed[place % len(changed)] ^= mask
    run = opened(folder, bytes(changed))
    check(run)
    assert is_said(run) or bytes(changed) == content


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(share=st.floats(0, 1, exclude_max=True))
def test_a_stream_may_be_cut_anywhere(stream: bytes, tmp_path_factory: pytest.TempPathFactory, share: float) -> None:
    """Time is unattributed from the last whole record on."""
    cut(tmp_path_factory.mktemp("cut") / "run", stream, int(share * len(stream)))


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(places=st.dictionaries(st.integers(0, 1 << 20), st.integers(1, 255), min_size=1, max_size=4))
def test_any_bytes_of_a_stream_may_be_others(
    stream: bytes, tmp_path_factory: pytest.TempPathFactory, places: dict[int, int]
) -> None:
    """What can be read of it still sums to the wall time."""
    flipped(tmp_path_factory.mktemp("flipped") / "run", stream, places)


@pytest.mark.slow
def test_a_stream_may_be_cut_at_any_byte(stream: bytes, tmp_path: Path) -> None:
    """Every 41st of them, which is no size of a record."""
    for length in range(0, len(stream), 41):
        cut(tmp_path / "run", stream, length)


@pytest.mark.slow
def test_many_streams_may_be_damaged_in_many_ways(tmp_path: Path) -> None:
    """Generated ones, with spans and steps of any kind, cut and with other bytes."""
    for seed in range(60):
        rng = random.Random(seed)
        content = generated(rng)
        flips = {rng.randrange(len(content)): rng.randrange(1, 256) for _ in range(rng.randrange(4))}
        if rng.random() < 0.5:
            cut(tmp_path / "run", content, rng.randrange(len(content)))
        flipped(tmp_path / "run", content, flips)


def test_a_checksum_whose_name_is_damaged_is_no_missing_one(stream: bytes, tmp_path: Path) -> None:
    """A stream of an old dlprof has none, and nothing in its place."""
    renamed = opened(tmp_path / "renamed", stream.replace(b'"crc32"', b'"crcJ2"'))
    start = stream.rindex(b',"crc32"')
    shorter = bytearray(stream[:start] + b"}")
    head = shorter.rindex(b'{"time_ns"') - wire.HEAD.size
    wire.HEAD.pack_into(shorter, head, wire.Record.TRAILER, len(shorter) - head - wire.HEAD.size)
    old = opened(tmp_path / "old", bytes(shorter))

    assert (is_said(renamed), is_said(old)) == (True, False)


@pytest.mark.parametrize("seed", range(6))
def test_any_stream_sums_to_the_wall_time(tmp_path: Path, seed: int) -> None:
    """Of spans that nest in any way, and steps anywhere."""
    rng = random.Random(1000 + seed)
    content = generated(rng)
    check(opened(tmp_path / "run", content))
    cut(tmp_path / "run", content, rng.randrange(len(content)))


def generated(rng: random.Random) -> bytes:
    """A stream of spans of all kinds that nest as they like, and of steps with parts of any length."""
    kinds = sorted(value for name, value in vars(wire.SpanKind).items() if name.isupper() and value != "epoch")
    parts = [wire.MAGIC + bytes([wire.VERSION])]
    facts = {"pid": 42, "main_thread": MAIN, "boot_ns": ORIGIN + rng.randrange(S)}
    parts.append(wire.record(wire.Record.META, wire.json_payload(facts)))
    for number, kind in enumerate(kinds, 1):
        text = wire.STRING_HEAD.pack(number) + wire.text_payload(kind)
        parts.append(wire.record(wire.Record.STRING, text))
    for span in range(1, rng.randrange(2, 30)):
        start = rng.randrange(WALL)
        end = start + rng.randrange(WALL - start)
        begin = wire.BEGIN.pack(span, rng.randrange(1, len(kinds) + 1), 0, MAIN, ORIGIN + start, 0, 0)
        parts.append(wire.record(wire.Record.BEGIN, begin))
        if rng.random() < 0.8:
            parts.append(wire.record(wire.Record.END, wire.END.pack(span, ORIGIN + end)))
    for number in range(rng.randrange(20)):
        first = rng.randrange(WALL)
        last = first + rng.randrange(WALL - first)
        times = [rng.randrange(S) for _ in range(5)]
        fields = (MAIN, rng.randrange(1, 30), 0, number, 1, ORIGIN + first, ORIGIN + last, *times, rng.randrange(32))
        parts.append(wire.record(wire.Record.STEP, wire.STEP.pack(*fields)))
    return raw_runs.ended(b"".join(parts), ORIGIN + WALL)


def test_the_last_open_span_is_not_stretched(tmp_path: Path, stream: bytes) -> None:
    """The stream was cut in the training: fit ends with its last step, and what follows is of no phase."""
    run = opened(tmp_path / "run", stream[: stream.rindex(wire.record(wire.Record.END, b"")[:1]) - 2000])

    (fit,) = [row for row in run.rows("spans") if row["kind"] == "fit"]
    last = max(row["start_ns"] + row["dur_ns"] for row in run.rows("steps"))
    assert (fit["ended"], fit["start_ns"] + fit["dur_ns"]) == (False, last)
    assert run.rows("phase_intervals")[-1] == {
        **run.rows("phase_intervals")[-1],
        "phase": "unattributed",
        "start_ns": last,
        "dur_ns": WALL - last,
    }


def test_a_cut_stream_is_told_once_and_everywhere_the_same(tmp_path: Path, stream: bytes) -> None:
    """In the manifest, the ledger, the health section and the verdict; also when the tables are made again."""
    run = opened(tmp_path / "run", stream[: len(stream) // 2])
    again = sound_tables.stored(run.folder, rebuild=True)

    assert again.manifest == run.manifest
    for one in (run, again):
        report = summary.summarise(one, top=1, diagnosis=None)
        end = one.manifest.unrecorded
        assert end is not None
        assert end.cause == StreamEnd.DAMAGED
        assert [(probe.name, probe.state, probe.reason) for probe in one.manifest.probes] == [
            ("phases", ProbeState.FAILED, end.reason)
        ]
        assert [(probe.name, probe.reason) for probe in report.probes] == [("phases", end.reason)]
        (line,) = report.health
        assert report.verdict.startswith(line.message)
        assert f"because {end.reason}." in line.message


def test_a_stream_that_was_changed_is_told(tmp_path: Path, stream: bytes) -> None:
    """Though every record of it can be read: its bytes are not those that were written."""
    changed = stream.replace(b"torch", b"torhc")

    assert [row["slug"] for row in opened(tmp_path / "run", changed).rows("health")] == ["inproc-changed"]
