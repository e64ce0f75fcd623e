"""Models that are called with the input before and a piece more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dlprof_probes.inproc.growing_inputs import Asked, growth_of
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.conftest import Clock, Recorded

MS = 1_000_000


class Part:
    """A layer, which takes as many ms as its input is long."""

    now: Clock

    def __call__(self, *arrays: Any, **_named: Any) -> Any:
        """The array that it computes: the last one, but for its length where `out` says another one."""
        self.now.ns += arrays[-1].shape[1] * MS if arrays and arrays[-1].ndim > 1 else MS
        return arrays[-1] if arrays else None


class Model(Part):
    """It has a part."""

    def __init__(self) -> None:
        self.part = Part()

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """What its part computes."""
        return self.part(*arrays, **named)


class Cached(Model):
    """It gives one piece, whatever its second input is."""

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """The newest piece."""
        self.part(*arrays, **named)
        return arrays[0]


@pytest.fixture
def asked() -> Asked:
    """Nothing is trained, and time is behind the batch."""
    return Asked(lambda: True)


@pytest.fixture
def model(probe: Probe, now: Clock, asked: Asked) -> Model:
    """A model whose calls are looked at, and those of its part."""
    Part.now = now
    for owner in (Part, Model, Cached):
        probe.growing.watch(owner, "__call__", asked)
    return Model()


def told(out: Recorded, probe: Probe) -> list[dict[str, Any]]:
    """What is told of each sequence."""
    probe.growing.finish()
    return [one.detail["growing"] for one in out.stream().spans.values() if one.kind == "growing_input"]


def words(rows: int, length: int) -> Any:
    """An array of words."""
    return np.zeros((rows, length), np.int32)


def test_a_sequence_that_grows_is_told_with_the_sums_of_its_times(model: Model, out: Recorded, probe: Probe) -> None:
    """18 calls from 3 to 20 words: the model's, not those of its part; the first call makes something ready."""
    for length in range(3, 21):
        model(words(2, length))

    assert told(out, probe) == [
        {
            "calls": 18,
            "first": 3,
            "last": 20,
            "step": 1,
            "axis": 1,
            "shortest_ns": 4 * MS,
            "turns": 16,
            "lengths": 184.0,
            "squares": 2456.0,
            "ns": 184.0 * MS,
            "lengths_ns": 2456.0 * MS,
            "ns_squares": 2456.0 * MS * MS,
        }
    ]
    (span,) = (one for one in out.stream().spans.values() if one.kind == "growing_input")
    assert (span.name, span.file, (span.end or 0) - span.start) == ("Model", __file__, 187 * MS)


def test_a_sequence_that_begins_anew_is_another_one(model: Model, out: Recorded, probe: Probe) -> None:
    """Two texts of one prompt."""
    for _ in range(2):
        for length in range(4, 24):
            model(words(1, length))

    assert [(one["calls"], one["first"], one["last"]) for one in told(out, probe)] == [(20, 4, 23), (20, 4, 23)]


@pytest.mark.parametrize(
    "shapes",
    [
        [(2, 3 + n) for n in range(15)],
        [(3 + n, 8) for n in range(40)],
        [(1, 8 + n, 8 + n, 3) for n in range(40)],
        [(2, 8 + n // 2) for n in range(80)],
        [(2, 64 * n) for n in range(1, 40)],
        [(2, 16) for _ in range(40)],
        [(1, 3 + n + (n % 5 == 0)) for n in range(60)],
        [(1 + n % 2, 3 + n) for n in range(40)],
    ],
    ids=["few", "batch", "images", "two of each", "study", "window", "texts by length", "batches too"],
)
def test_other_inputs_are_no_sequence(shapes: list[tuple[int, ...]], model: Model, out: Recorded, probe: Probe) -> None:
    """Batches that grow, images of more and more places, lengths that come twice, are far apart or not all there."""
    for shape in shapes:
        model(np.zeros(shape))

    assert told(out, probe) == []


def test_weights_that_change_between_the_calls_are_a_training(model: Model, out: Recorded, probe: Probe) -> None:
    """Longer and longer texts are trained with, and each is evaluated once."""
    for length in range(3, 60):
        model(words(2, length))
        probe.own_loops.updated += 1

    assert told(out, probe) == []


def test_what_is_trained_is_no_sequence(model: Model, asked: Asked, out: Recorded, probe: Probe) -> None:
    """Gradients are taken, whether or not weights have changed by then."""
    asked.is_asking = lambda: False
    for length in range(3, 60):
        model(words(2, length))

    assert told(out, probe) == []


def test_time_in_front_counts_where_the_model_says_so(model: Model, asked: Asked, out: Recorded, probe: Probe) -> None:
    """As recurrent layers do by `batch_first`."""
    asked.is_time_first = lambda one: one is model
    for length in range(3, 30):
        model(words(length, 2))

    assert [(one["axis"], one["first"], one["last"]) for one in told(out, probe)] == [(0, 3, 29)]


def test_parts_of_an_array_that_nobody_writes_to_were_there_before(
    model: Model, asked: Asked, out: Recorded, probe: Probe
) -> None:
    """A text that is read from left to right; in a buffer that is written to, it grows."""
    asked.mark_of = lambda array: array.base is not None and (id(array.base), int(array.base[0, 0]))
    text = words(1, 60)
    for length in range(3, 60):
        model(text[:, :length])
    probe.growing.finish()
    for length in range(3, 60):
        text[0, 0] += 1
        model(text[:, :length])

    assert len(told(out, probe)) == 1


def test_a_mask_that_grows_beside_the_newest_piece_is_none(model: Model, out: Recorded, probe: Probe) -> None:
    """Keys and values are kept; a decoder's output grows though its first input, the text to translate, stays."""
    cached = Cached()
    for length in range(3, 40):
        cached(words(1, 1), words(1, length))
    assert told(out, probe) == []

    for length in range(3, 40):
        model(words(1, 9), words(1, length))
    assert [one["last"] for one in told(out, probe)] == [39]


def test_calls_of_different_lines_are_no_sequence(model: Model, out: Recorded, probe: Probe) -> None:
    """A study in one line, then one in another."""
    for length in range(3, 15):
        model(words(1, length))
    for length in range(15, 60):
        model(words(1, length))

    assert told(out, probe) == []


def test_predictions_of_a_model_count(out: Recorded, probe: Probe, now: Clock) -> None:
    """Other arguments are no arrays."""
    one = object()
    for length in range(3, 30):
        probe.growing.predicted((one, words(1, length)), {"verbose": 0})
        now.ns += MS

    assert [(each["calls"], each["last"]) for each in told(out, probe)] == [(27, 29)]


def test_predictions_of_the_same_length_begin_no_sequence(out: Recorded, probe: Probe, now: Clock) -> None:
    """One begins with the last of them, as long as its second call has a piece more."""
    one = object()
    for length in (3, 3, 3, *range(4, 30)):
        probe.growing.predicted((one, words(1, length)), {"verbose": 0})
        now.ns += MS

    assert [(each["calls"], each["first"]) for each in told(out, probe)] == [(27, 3)]
    (span,) = (each for each in out.stream().spans.values() if each.kind == "growing_input")
    assert (span.end or 0) - span.start == 26 * MS


def test_sequences_that_are_too_many_are_counted(model: Model, out: Recorded, probe: Probe) -> None:
    """64 of one line are told."""
    for _ in range(70):
        for length in range(3, 20):
            model(words(1, length))

    assert len(told(out, probe)) == 64
    assert [message[:26] for slug, message in out.notes() if slug == "growing-inputs-left-out"] == [
        "6 sequences that grew call"
    ]


@pytest.mark.parametrize(
    ("before", "after", "growth"),
    [
        (((2, 3),), ((2, 4),), (0, 1, 1, 4)),
        (((2, 3), (3, 3)), ((2, 4), (4, 4)), (0, 1, 1, 4)),
        (((3,), (2, 3)), ((4,), (2, 4)), (1, 1, 1, 4)),
        (((3, 3),), ((4, 4),), None),
        (((2, 3), (2, 3)), ((2, 4), (2, 5)), None),
        (((2, 4),), ((2, 3),), None),
        (((2, None),), ((2, 4),), None),
        (((2, 3),), ((2, 3), (1, 1)), None),
        (((2, 3),), (None,), None),
    ],
)
def test_growth_is_of_one_axis(before: Any, after: Any, growth: Any) -> None:
    """Which array, which axis, by how much, and how long it is; masks of all pairs may grow beside it."""
    assert growth_of(before, after) == growth
