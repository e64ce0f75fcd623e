"""Spans of a stream, as columns."""

from __future__ import annotations

import pytest

from dlprof.ingest.own.span_log import OPEN, Span, SpanLog


def log(*spans: tuple[int, str, int, int | None]) -> SpanLog:
    """Spans of thread 7: number, kind, begin and end."""
    found = SpanLog()
    for number, kind, start, end in spans:
        found.begin(number, kind, f"name {number}", 7, start, "a.py", 3)
        if end is not None:
            found.end(number, end)
    return found


def test_a_span_comes_back_as_it_was_told() -> None:
    """With its facts."""
    spans = log((1, "fit", 10, 90))
    spans.add_facts(1, {"batch_size": 32})
    spans.add_facts(1, {"batches": 4})
    assert spans[1] == Span(1, "fit", "name 1", 7, 10, "a.py", 3, 90, {"batch_size": 32, "batches": 4})


def test_facts_that_an_earlier_span_has_are_those_of_the_later_one() -> None:
    """They were told once."""
    spans = log((1, "predict", 10, 20), (2, "predict", 30, 40))
    spans.add_facts(1, {"model": {"layers": []}, "steps": 3})
    spans.add_facts(2, {"steps": 4, "as": {"model": 1}})
    assert spans[2].detail == {"steps": 4, "model": {"layers": []}}


@pytest.mark.parametrize("same", [{"model": 9}, {"model": [1]}, {"other": 1}, [1], None])
def test_facts_of_a_span_that_is_not_there_are_none(same: object) -> None:
    """The stream may be damaged."""
    spans = log((1, "predict", 10, 20), (2, "predict", 30, 40))
    spans.add_facts(1, {"model": {}})
    spans.add_facts(2, {"as": same})
    assert spans[2].detail == {}


def test_a_span_that_never_ended_has_no_end() -> None:
    """Its column says so by a number that no time has."""
    spans = log((1, "fit", 10, None))
    assert (spans[1].end, spans.column("end").tolist()) == (None, [OPEN])


def test_the_end_of_a_span_that_is_not_open_is_passed_over() -> None:
    """Neither one that never began, nor one that ended."""
    spans = log((1, "fit", 10, 90))
    spans.end(1, 95)
    spans.end(2, 99)
    assert [span.end for span in spans.values()] == [90]


def test_a_span_that_ends_before_it_begins_is_an_error() -> None:
    """The stream is damaged there."""
    with pytest.raises(ValueError, match="ends before it begins"):
        log((1, "fit", 10, 9))


def test_a_number_that_comes_again_replaces_the_span() -> None:
    """In all ways of looking at them; the order is that of what is left."""
    spans = log((1, "fit", 10, 20), (2, "epoch", 11, 15), (1, "predict", 30, 40))
    assert [(span.number, span.kind) for span in spans.values()] == [(2, "epoch"), (1, "predict")]
    assert spans.column("start").tolist() == [11, 30]
    assert spans.column("start", 1).tolist() == [30]
    assert (spans[1].start, [*spans.of_kind("fit")]) == (30, [])


def test_a_span_that_comes_after_one_looked_is_seen() -> None:
    """What was found out of the numbers before is forgotten."""
    spans = log((1, "fit", 10, 20), (1, "fit", 12, 20))
    assert spans.column("start").tolist() == [12]
    spans.begin(2, "epoch", "e", 7, 13)
    assert spans.column("start").tolist() == [12, 13]


def test_spans_are_found_by_number_and_kind() -> None:
    """Numbers that there are not are left out."""
    spans = log((1, "fit", 10, 20), (2, "epoch", 11, 15), (3, "epoch", 15, 18))
    assert {number: span.kind for number, span in spans.named([3, 1, 99]).items()} == {1: "fit", 3: "epoch"}
    assert [span.number for span in spans.of_kind("epoch")] == [2, 3]
    assert spans.get(99) is None
    with pytest.raises(KeyError):
        _ = spans[99]


def test_codes_are_those_of_known_texts() -> None:
    """A kind that never came has none."""
    spans = log((1, "fit", 10, 20))
    assert spans.codes(("save", "fit")).tolist() == [spans.texts.known("fit")]
