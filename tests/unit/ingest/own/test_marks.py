"""Marks of programs that are no Python script."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.own import marks
from dlprof.ingest.own.wire_stream import Stream

S = 1_000_000_000


def stream(tmp_path: Path, *lines: tuple[float, str]) -> Stream:
    """What marks tell of a program that ran from second 100 to 110; Unix time is 1,000 s ahead of the run's clock."""
    path = tmp_path / "marks.jsonl"
    path.write_text("".join(json.dumps([round(at * S), text]) + "\n" for at, text in lines), encoding="utf-8")
    return marks.read(path, 100 * S, 110 * S, -1000 * S)


def spans(found: Stream) -> list[tuple[str, str, float, float]]:
    """EventKind, name, begin and end in seconds, without the program itself."""
    rows = [(s.kind, s.name, s.start / S, (s.end or 0) / S) for s in found.spans.values()]
    return [row for row in rows if row[0] != "script"]


def test_phases_last_from_begin_to_end(tmp_path: Path) -> None:
    """An `end` without a name ends the innermost."""
    found = stream(
        tmp_path,
        (101, "begin data"),
        (102, "end data"),
        (103, "begin fit"),
        (104, "begin input"),
        (105, "end"),
        (106, "end"),
    )

    assert spans(found) == [("data", "data", 101, 102), ("fit", "fit", 103, 106), ("input", "input", 104, 105)]
    assert not found.notes


def test_what_is_left_open_lasts_until_the_program_ends(tmp_path: Path) -> None:
    """It may have been killed."""
    assert spans(stream(tmp_path, (101, "begin fit"))) == [("fit", "fit", 101, 110)]


def test_a_stated_time_counts_instead_of_the_arrival(tmp_path: Path) -> None:
    """It is Unix time in seconds."""
    found = stream(tmp_path, (105, "@1101.5 begin fit"), (109, "@1102.25 end fit"))

    assert spans(found) == [("fit", "fit", 101.5, 102.25)]


def test_steps_and_epochs_follow_one_another(tmp_path: Path) -> None:
    """A step begins where the one before ended, the first of an epoch with the epoch; metrics belong to the epoch."""
    found = stream(tmp_path, (101, "begin fit batch_size=32"), (101, "epoch"), (102, "step"), (104, "step"),
                   (104, "metric loss 0.5"), (104, "epoch"), (105, "step"), (106, "end fit"))  # fmt: skip

    assert [(s[2], s[3], s[5] / S, s[6] / S) for s in found.steps] == [
        (0, 0, 101, 102),
        (0, 1, 102, 104),
        (1, 0, 104, 105),
    ]
    assert [row[1:] for row in spans(found) if row[0] == "epoch"] == [("0", 101, 104), ("1", 104, 106)]
    assert [(m[1], m[4], m[5]) for m in found.metrics] == [(0, "loss", 0.5)]
    assert found.spans[2].detail == {"batch_size": 32}


def test_steps_of_fit_without_epochs_are_of_one_epoch(tmp_path: Path) -> None:
    """So that their time is that of steps, not of building."""
    found = stream(tmp_path, (101, "begin fit"), (102, "step"), (103, "end fit"))

    assert ("epoch", "0", 101, 103) in spans(found)


@pytest.mark.parametrize(
    "line", ["hello", "begin nothing", "begin", "end fit", "step", "epoch 1", "metric loss", "@soon step", "\x1b[31m"]
)
def test_a_mark_that_makes_no_sense_is_passed_over_with_a_note(tmp_path: Path, line: str) -> None:
    """The program is not hurt, and the rest counts."""
    found = stream(tmp_path, (101, line), (102, "begin data"), (103, "end data"))

    assert [note.slug for note in found.notes] == ["mark-unknown"]
    assert spans(found) == [("data", "data", 102, 103)]


def test_many_senseless_marks_are_a_few_notes(tmp_path: Path) -> None:
    """A program may write a log into the file by mistake."""
    found = stream(tmp_path, *[(101, f"line {n}") for n in range(1000)])

    assert len(found.notes) == 6
    assert found.notes[-1].message == "1000 marks were passed over."


def test_a_damaged_file_is_one_error(tmp_path: Path) -> None:
    """As of any other artifact."""
    path = tmp_path / "marks.jsonl"
    path.write_text("{nonsense")

    with pytest.raises(ArtifactError):
        marks.read(path, 0, 1, 0)
