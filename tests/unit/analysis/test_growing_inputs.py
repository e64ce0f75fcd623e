"""Lines that call a model with all of a sequence for each new piece."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from dlprof.analysis import growing_inputs
from dlprof.analysis.growing_inputs import Growing
from dlprof.schema.manifest import PhaseThread
from dlprof.store.run import Run
from tests.unit.runs import S, span, trained

MS = 1_000_000


def sequence(begin_s: float, times_ms: dict[int, float], **changes: Any) -> dict[str, Any]:
    """A sequence that begins then; by the length of its input, what each call took."""
    lengths, times = list(times_ms), [ms * MS for ms in times_ms.values()]
    told = {
        "calls": len(lengths) + 1,
        "first": lengths[0],
        "last": lengths[-1] + 1,
        "step": 1,
        "axis": 1,
        "turns": len(lengths),
        "lengths": sum(lengths),
        "squares": sum(length**2 for length in lengths),
        "ns": sum(times),
        "lengths_ns": sum(length * ns for length, ns in zip(lengths, times, strict=True)),
        "ns_squares": sum(ns**2 for ns in times),
        "shortest_ns": min(times),
    }
    end_s = begin_s + sum(times) / S
    detail = json.dumps({"growing": told})
    return span("growing_input", begin_s, end_s, **{"name": "Model", "detail": detail, **changes})


def found(path: Path, *spans: dict[str, Any]) -> tuple[Growing, ...]:
    """What a run with these spans has."""
    run: Run = trained(path / "r", spans=[{**one, "span_id": n} for n, one in enumerate(spans, 10)])
    return growing_inputs.of_run(run)


def test_what_follows_the_length_is_saved_but_for_one_piece(tmp_path: Path) -> None:
    """2 ms, and 1 ms for each place: 40 calls of 5 to 44 places take 1060 ms, with one place 3 ms each."""
    times = {length: 2.0 + length for length in range(5, 45)}

    (one,) = found(tmp_path, sequence(3, times), sequence(6, times))

    assert (one.model, one.file, one.line, one.calls, one.first, one.last, one.step) == (
        "Model",
        "train.py",
        7,
        82,
        5,
        45,
        1,
    )
    assert one.intervals == ((3 * S, 4_060 * MS), (6 * S, 7_060 * MS))
    assert one.piece_ns == pytest.approx(1 * MS)
    assert one.error_ns == pytest.approx(0, abs=1e3)
    # The shortest turn, of five places, took 7 ms: a single place is not taken to take less than that.
    assert one.saved_ns == pytest.approx((2 * 1060 - 80 * 7) * MS)


def test_a_long_beginning_stands_for_no_single_piece(tmp_path: Path) -> None:
    """30 of 69 places: by the fit, a call with one takes 3 ms."""
    (one,) = found(tmp_path, sequence(3, {length: 2.0 + length for length in range(30, 70)}))

    assert one.saved_ns == pytest.approx((sum(range(32, 72)) - 40 * 3) * MS)


def test_times_that_do_not_follow_the_length_leave_it_unsure(tmp_path: Path) -> None:
    """Each second call takes as long as the other ones take together with it."""
    (one,) = found(tmp_path, sequence(3, {length: 5.0 + 40 * (length % 2) for length in range(1, 61)}))

    assert one.unsure > 1


def test_parts_of_a_model_that_are_called_in_turn_count_once(tmp_path: Path) -> None:
    """The one with most time; what another thread calls is left out."""
    times = {length: 1.0 + length for length in range(1, 41)}
    shorter = {length: 0.5 + length for length in range(1, 41)}

    (one,) = found(
        tmp_path,
        sequence(3, shorter, name="Embedding", line=8),
        sequence(3.001, times, name="LSTM", line=9),
        sequence(3, times, name="Other", thread="Thread-1", line=10),
    )

    assert one.model == "LSTM"


def test_a_thread_that_phases_are_of_is_told_while_they_are(tmp_path: Path) -> None:
    """A server's; what it calls after its turn is not."""
    times = {length: 1.0 + length for length in range(1, 41)}
    on_thread = {"thread": "Thread-1", "thread_id": 7}
    spans = [sequence(at, times, **on_thread, span_id=number) for number, at in enumerate((3, 6), 10)]
    run: Run = trained(tmp_path / "r", spans=spans)
    turn = PhaseThread(thread="Thread-1", thread_id=7, start_ns=2 * S, end_ns=5 * S)
    run.manifest = structs.replace(run.manifest, phase_threads=(turn,))

    (one,) = growing_inputs.of_run(run)

    assert one.intervals == ((3 * S, 3_860 * MS),)


@pytest.mark.parametrize(("calls", "start_s", "waited_ns"), [(2, 4.1, 900 * MS), (3, 4.1, 0), (2, 2.5, 0)])
def test_a_line_that_waits_once_behind_each_sequence_has_what_the_calls_started(
    calls: int, start_s: float, waited_ns: int, tmp_path: Path
) -> None:
    """Two sequences; not a line that runs more often, nor one that ran before."""
    times = dict.fromkeys(range(5, 45), 2.0)
    waits = {
        "what": "asnumpy()",
        "file": "train.py",
        "line": 9,
        "calls": calls,
        "dur_ns": 900 * MS,
        "start_ns": round(start_s * S),
        "end_ns": 8 * S,
    }
    spans = [sequence(3, times, span_id=10), sequence(6, times, span_id=11)]

    (one,) = growing_inputs.of_run(trained(tmp_path / "r", spans=spans, syncs=[waits]))

    assert one.waited_ns == waited_ns
    assert one.is_behind == (waited_ns > 0)


def test_a_span_without_its_sums_tells_nothing(tmp_path: Path) -> None:
    """As of a stream that was cut."""
    assert found(tmp_path, span("growing_input", 3, 4)) == ()
