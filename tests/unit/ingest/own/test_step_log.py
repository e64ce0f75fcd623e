"""Steps of a stream, in pieces."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import numpy as np
from dlprof_probes import wire

from dlprof.ingest.own import step_log
from dlprof.ingest.own.step_log import RECORD, StepLog


def step(number: int, count: int = 1) -> tuple[int, ...]:
    """The fields of `wire.STEP` of a step that begins at its number."""
    return (7, 2, 0, number, count, number, number + 1, 0, 0, 0, 0, 0, 0)


def test_the_record_is_that_of_the_wire() -> None:
    """Byte by byte: head and step."""
    packed = wire.STEP_RECORD.pack(wire.Record.STEP, wire.STEP.size, *step(5, 3))
    (row,) = np.frombuffer(packed, RECORD)
    assert (RECORD.itemsize, tuple(row.tolist())[2:]) == (wire.STEP_RECORD.size, step(5, 3))


def test_steps_come_back_in_order_however_they_were_added() -> None:
    """One by one, and many at once."""
    log = StepLog()
    log.append(step(0))
    log.extend(np.array([(wire.Record.STEP, wire.STEP.size, *step(n)) for n in (1, 2)], RECORD))
    log.append(step(3))
    assert log == [step(n) for n in range(4)]
    assert (len(log), log[2]) == (4, step(2))


def test_steps_that_are_put_together_are_counted_one_by_one() -> None:
    """Two rows, of which one stands for ten."""
    log = StepLog()
    log.append(step(0, 10))
    log.extend(np.array([(wire.Record.STEP, wire.STEP.size, *step(10))], RECORD))
    assert (len(log), log.steps) == (2, 11)


def test_what_was_given_may_be_changed_afterwards() -> None:
    """Rows are copied: readers hand out views of what they read next."""
    log, rows = StepLog(), np.array([(wire.Record.STEP, wire.STEP.size, *step(1))], RECORD)
    log.extend(rows)
    rows["count"] = 99
    assert log == [step(1)]


def test_many_steps_wait_in_a_file_without_a_name(tmp_path: Path) -> None:
    """All of them come back, more than once, and after more were added; the folder stays empty."""
    with patch.object(step_log, "PIECE", 4), patch.object(step_log, "_PIECES", 2):
        log = StepLog(tmp_path)
        for n in range(50):
            log.append(step(n))
        assert log == [step(n) for n in range(50)]
        for n in range(50, 75):
            log.append(step(n))
        assert log == [step(n) for n in range(75)]
        assert max(len(piece) for piece in log.pieces()) <= 4
        assert log._file is not None
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_replaced_by_that_of_the_system(tmp_path: Path) -> None:
    """A run folder may be read-only."""
    with patch.object(step_log, "PIECE", 2), patch.object(step_log, "_PIECES", 1):
        log = StepLog(tmp_path / "gone")
        for n in range(20):
            log.append(step(n))
        assert log == [step(n) for n in range(20)]
