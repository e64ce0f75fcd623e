"""Stages of tf.data out of the planes of an XSpace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dlprof.ingest.kernels.input_stages import TracedStage
from dlprof.ingest.parse import xiterators
from dlprof.ingest.parse.xplane import SpaceBytes
from tests.unit.ingest.protobuf import field, number

US = 1_000_000
"""Picoseconds."""
Event = tuple[str, int, int, dict[str, "int | str"]]
"""Name, begin and duration (us), stats."""
ROOT, PREFETCH, BATCH = "Iterator::Root", "Iterator::Root::Prefetch", "Iterator::Root::Prefetch::BatchV2"
MAP = f"{BATCH}::ParallelMapV2"
SLICES = f"{MAP}::TensorSlice"
STAGE = TracedStage(0, 0, None, "Root", "PrefetchDataset:3", False, 1, 0, 0, 0, None, False)


def plane(*lines: Sequence[Event]) -> bytes:
    """The plane of a host with these events on its threads; texts of stats are references, as TensorFlow has them."""
    names = sorted({event[0] for line in lines for event in line})
    texts = sorted(
        {name for line in lines for event in line for name in event[3]}
        | {value for line in lines for event in line for value in event[3].values() if isinstance(value, str)}
    )
    made = field(2, b"/host:CPU")
    for lane, line in enumerate(lines):
        events = b""
        for name, begin, dur, stats in line:
            event = number(1, names.index(name) + 1) + number(2, begin * US) + number(3, dur * US)
            for stat, value in stats.items():
                held = number(7, texts.index(value) + 1) if isinstance(value, str) else number(4, value)
                event += field(4, number(1, texts.index(stat) + 1) + held)
            events += field(4, event)
        made += field(3, number(1, lane) + field(2, b"tf_data") + events)
    for at, text in enumerate(names, 1):
        made += field(4, number(1, at) + field(2, number(1, at) + field(2, text.encode())))
    for at, text in enumerate(texts, 1):
        made += field(5, number(1, at) + field(2, number(1, at) + field(2, text.encode())))
    return field(1, made)


def stages(*lines: Sequence[Event]) -> list[TracedStage]:
    """What is told of them."""
    data = SpaceBytes(plane(*lines))
    return xiterators.stages(data, data.head().planes[0])


def mapped() -> list[list[Event]]:
    """A batch of two, mapped in parallel: threads that ask, that batch, that begin the map, and that run it."""
    ids: dict[str, int | str] = {"name": "MapDataset:1", "id": 4, "parent_id": 3}
    return [
        [
            (ROOT, 0, 100, {"name": "PrefetchDataset:3", "id": 1}),
            (PREFETCH, 10, 80, {"name": "PrefetchDataset:3", "id": 2, "parent_id": 1, "buffer_limit": 2}),
        ],
        [
            (BATCH, 5, 75, {"name": "BatchDatasetV2:2", "id": 3, "parent_id": 2, "batch_size": 2}),
            (MAP, 10, 30, {**ids, "parallelism": 2, "autotune": "true", "buffered_elements": 1}),
            (MAP, 40, 30, {**ids, "parallelism": 2, "autotune": "true", "buffered_elements": 2}),
        ],
        [
            ("ParallelMapProduce", 0, 10, {"element_id": 7}),
            (SLICES, 1, 4, {"name": "TensorSliceDataset:0", "id": 5, "parent_id": 4}),
            ("InstantiatedCapturedFunction::RunAsync", 6, 3, {"id": -70}),
        ],
        [
            ("ExecutorState::Process", 10, 25, {"id": -70}),
            ("ExecutorState::Process", 12, 5, {"id": -70}),
            ("ExecutorState::Process", 50, 9, {"id": -99}),
        ],
    ]


def test_each_stage_has_its_calls_and_its_own_time() -> None:
    """What is asked on the same thread is not its own; what is asked on others is waited for."""
    root, prefetch, batch, map_, slices = stages(*mapped())

    assert root == replace(STAGE, total_ns=100_000, own_ns=20_000)
    assert (prefetch.own_ns, prefetch.asynchronous, prefetch.buffer) == (80_000, True, 2)
    assert (batch.own_ns, batch.asynchronous, batch.batch_size) == (15_000, False, 2)
    assert (map_.elements, map_.own_ns, map_.asynchronous, map_.parallelism) == (2, 60_000, True, 2)
    assert (map_.autotuned, map_.buffered, map_.dataset) == (True, 1.5, "MapDataset:1")
    assert (slices.own_ns, slices.asynchronous) == (4_000, False)
    assert [one.parent for one in (root, prefetch, batch, map_, slices)] == [None, 0, 1, 2, 3]


def test_a_function_belongs_to_the_stage_that_asks_what_is_asked_where_it_begins() -> None:
    """Executors inside of each other count once, those of other functions not."""
    assert [one.function_ns for one in stages(*mapped())] == [None, None, None, 25_000, None]


def test_parallelism_is_no_number_where_its_lock_was_taken() -> None:
    """TensorFlow then writes a text, which is a reference: its number was once told as 69 threads."""
    lines = mapped()
    name, begin, dur, told = lines[1][2]
    lines[1][2] = (name, begin, dur, {**told, "parallelism": "unavailable", "buffered_elements": "unavailable"})

    map_ = stages(*lines)[3]

    assert (map_.parallelism, map_.buffered) == (2, 1.0)


def test_to_make_what_is_read_from_is_not_a_stages_own_time() -> None:
    """As where a pass begins; what is made inside of that counts once."""
    line: list[Event] = [
        (ROOT, 0, 50, {"name": "ShuffleDatasetV3:1", "id": 1}),
        (f"{ROOT}::Shuffle", 0, 45, {"name": "ShuffleDatasetV3:1", "id": 2, "parent_id": 1, "buffer_size": 200}),
        ("MakeIterator::MapDataset", 5, 30, {}),
        ("MakeIterator::RangeDataset", 6, 20, {}),
    ]

    _, shuffle = stages(line)

    assert (shuffle.total_ns, shuffle.own_ns, shuffle.starting_ns) == (45_000, 15_000, 30_000)
    assert (shuffle.asynchronous, shuffle.buffer) == (False, 200)


def test_files_that_are_read_in_turn_are_one_stage() -> None:
    """An iterator each, told by an index."""
    inner = f"{ROOT}::InterleaveV2"
    lines: list[Event] = [
        (ROOT, 0, 50, {"name": "InterleaveDatasetV2:1", "id": 1}),
        (inner, 0, 50, {"name": "InterleaveDatasetV2:1", "id": 2, "parent_id": 1}),
        (f"{inner}[0]::TFRecord", 5, 10, {"name": "TFRecordDatasetV2:7", "id": 8, "parent_id": 2}),
        (f"{inner}[1]::TFRecord", 20, 10, {"name": "TFRecordDatasetV2:7", "id": 9, "parent_id": 2}),
    ]

    *_, records = stages(lines)

    assert (records.name, records.elements, records.own_ns, records.is_nested) == ("TFRecord", 2, 20_000, True)


def test_what_a_function_makes_each_time_is_one_stage() -> None:
    """A data set of its own for each element: none has the number of another, and none of these is told."""
    inner = f"{ROOT}::Interleave"
    line: list[Event] = [
        (inner, 0, 50, {"name": "InterleaveDataset:4", "id": 2, "parent_id": 1}),
        (f"{inner}::Range", 1, 2, {"name": "RangeDataset:3", "id": 3, "parent_id": 2}),
        (f"{inner}[0]::FiniteRepeat", 5, 10, {"name": "RepeatDataset:78", "id": 8, "parent_id": 2}),
        (f"{inner}[0]::FiniteRepeat[0]::FromTensor", 6, 3, {"name": "TensorDataset:77", "id": 9, "parent_id": 8}),
        (f"{inner}[1]::FiniteRepeat", 20, 10, {"name": "RepeatDataset:80", "id": 10, "parent_id": 2}),
        (f"{inner}[1]::FiniteRepeat[1]::FromTensor", 21, 4, {"name": "TensorDataset:79", "id": 11, "parent_id": 10}),
    ]

    told = [(one.name, one.parent, one.elements, one.dataset, one.is_nested) for one in stages(line)[1:]]

    assert told == [
        ("Interleave", 0, 1, "InterleaveDataset:4", False),
        ("FiniteRepeat", 1, 2, None, True),
        ("FromTensor", 2, 2, None, True),
        ("Range", 1, 1, "RangeDataset:3", False),
    ]


def test_inputs_of_one_type_are_a_stage_each() -> None:
    """`zip((a.map(...), b.map(...)))`; in the order in which the program gave them."""
    line: list[Event] = [
        (f"{ROOT}::Zip[1]::Map", 20, 10, {"name": "MapDataset:1", "id": 4, "parent_id": 2}),
        (f"{ROOT}::Zip[0]::Map", 5, 10, {"name": "MapDataset:3", "id": 3, "parent_id": 2}),
        (f"{ROOT}::Zip", 0, 50, {"name": "ZipDataset:4", "id": 2, "parent_id": 1}),
    ]

    told = [(one.name, one.parent, one.dataset, one.is_nested, one.input) for one in stages(line)[1:]]

    assert told == [
        ("Zip", 0, "ZipDataset:4", False, None),
        ("Map", 1, "MapDataset:3", False, 0),
        ("Map", 1, "MapDataset:1", False, 1),
    ]


def test_a_part_of_a_name_between_two_that_ask_each_other_is_no_stage() -> None:
    """TensorFlow's writer of snapshots puts one there."""
    line: list[Event] = [
        (ROOT, 0, 50, {"name": "SnapshotDatasetV2:2", "id": 1}),
        (f"{ROOT}::SnapshotWriter", 1, 40, {"name": "SnapshotDatasetV2:2", "id": 2, "parent_id": 1}),
        (f"{ROOT}::SnapshotWriter::WriterIterator::Map", 2, 30, {"name": "MapDataset:1", "id": 3, "parent_id": 2}),
    ]

    assert [(one.name, one.parent) for one in stages(line)] == [("Root", None), ("SnapshotWriter", 0), ("Map", 1)]


def test_pipelines_that_end_in_what_the_engine_put_in_are_told_apart_by_their_own_end() -> None:
    """Two that are built alike: it has the same name in both."""
    added = "inject/prefetch_BatchDatasetV2/_9"
    line: list[Event] = [
        (ROOT, 0, 5, {"name": added, "id": 1}),
        (f"{ROOT}::Prefetch", 0, 4, {"name": added, "id": 2, "parent_id": 1}),
        (BATCH, 0, 3, {"name": "BatchDatasetV2:1", "id": 3, "parent_id": 2}),
        (ROOT, 10, 5, {"name": added, "id": 4}),
        (f"{ROOT}::Prefetch", 10, 4, {"name": added, "id": 5, "parent_id": 4}),
        (BATCH, 10, 3, {"name": "BatchDatasetV2:7", "id": 6, "parent_id": 5}),
    ]

    assert [(one.pipeline, one.name, one.elements) for one in stages(line)] == [
        (0, "Root", 1),
        (0, "Prefetch", 1),
        (0, "BatchV2", 1),
        (1, "Root", 1),
        (1, "Prefetch", 1),
        (1, "BatchV2", 1),
    ]


def test_stages_that_ask_each_other_in_a_circle_are_told_all_the_same() -> None:
    """Of a trace that somebody else wrote: one of them is the outermost."""
    line: list[Event] = [
        (f"{ROOT}::Map", 0, 5, {"name": "MapDataset:1", "id": 1, "parent_id": 2}),
        (f"{ROOT}::BatchV2", 10, 5, {"name": "BatchDatasetV2:1", "id": 2, "parent_id": 1}),
        (f"{ROOT}::MemoryCache", 20, 5, {"name": "CacheDatasetV2:1", "id": 3, "parent_id": 3}),
    ]

    assert [(one.name, one.parent, one.elements) for one in stages(line)] == [
        ("MemoryCache", None, 1),
        ("BatchV2", None, 1),
        ("Map", 1, 1),
    ]


def test_pipelines_are_told_apart_by_what_they_end_in() -> None:
    """Of one whose call for a batch had not ended, the rest is put to the same stages."""
    lines: list[list[Event]] = [
        [(ROOT, 0, 5, {"name": "BatchDatasetV2:1", "id": 1}), (ROOT, 10, 7, {"name": "BatchDatasetV2:9", "id": 2})],
        [
            (f"{ROOT}::BatchV2", 0, 4, {"name": "BatchDatasetV2:1", "id": 3, "parent_id": 1}),
            (f"{ROOT}::BatchV2", 20, 4, {"name": "BatchDatasetV2:1", "id": 6, "parent_id": 77}),
        ],
    ]

    assert [(one.pipeline, one.name, one.elements) for one in stages(*lines)] == [
        (0, "Root", 1),
        (0, "BatchV2", 2),
        (1, "Root", 1),
    ]


def test_a_stage_none_of_whose_calls_ended_is_still_between_its_neighbours() -> None:
    """As where the trace is of one step: the batch that it waits for was begun before, the next one ends later."""
    lines = mapped()
    del lines[1][0]

    told = stages(*lines)

    assert [(one.name, one.parent, one.elements) for one in told] == [
        ("Root", None, 1),
        ("Prefetch", 0, 1),
        ("BatchV2", 1, 0),
        ("ParallelMapV2", 2, 2),
        ("TensorSlice", 3, 1),
    ]
    assert (told[2].own_ns, told[2].asynchronous, told[2].dataset) == (0, False, None)


def test_a_name_of_very_many_parts_is_not_completed() -> None:
    """All the beginnings of one of 50,000 parts would take gigabytes."""
    (stage,) = stages([(f"{ROOT}{'::Map' * 50_000}", 0, 5, {"name": "MapDataset:1", "id": 1})])

    assert (stage.name, stage.elements, stage.parent) == ("Map", 1, None)


def test_calls_before_and_after_those_of_their_asker_are_in_calls_that_the_trace_cut() -> None:
    """More of them than within the one call that was seen do not make a batch one that others make."""
    ids: dict[str, int | str] = {"name": "ShuffleDatasetV3:1", "id": 3, "parent_id": 2}
    line: list[Event] = [
        (f"{BATCH}::Shuffle", 0, 5, ids),
        (f"{BATCH}::Shuffle", 5, 5, ids),
        (BATCH, 20, 30, {"name": "BatchDatasetV2:2", "id": 2, "parent_id": 1}),
        (f"{BATCH}::Shuffle", 25, 20, ids),
        (f"{BATCH}::Shuffle", 60, 5, ids),
    ]

    batch, shuffle = stages(line)[2:]

    assert (batch.name, batch.asynchronous, batch.own_ns) == ("BatchV2", False, 10_000)
    assert (shuffle.elements, shuffle.total_ns) == (4, 35_000)


def test_a_plane_without_iterators_has_none() -> None:
    """As one of JAX."""
    assert stages([("PjitFunction(f)", 0, 5, {})]) == []
