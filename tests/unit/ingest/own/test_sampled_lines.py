"""Lines that were not counted, from samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dlprof.ingest.own.counted_frames import Counting, Place, Registered
from dlprof.ingest.own.sampled_lines import SampledLines
from dlprof.ingest.own.stood import Stood
from dlprof.ingest.parse.sampled_stacks import Frame

SOURCE = """\
class Data:
    def __getitem__(self, n):
        rows = [self.row(k) for k in range(n)]
        return sum(rows)
    def row(self, k):
        return k

model.fit(Data())
""".splitlines()
MAIN = Frame("<module>", "train.py", 8)
FIT = Frame("fit", "keras/src/trainer.py", 300)
GET = Frame("__getitem__", "train.py", 3)
COMPREHENSION = Frame("<listcomp>", "train.py", 3)
ROW = Frame("row", "train.py", 6)
MODULE_RAN = Registered("train.py", "<module>", 1, frozenset({1, 8}))
MS = 1_000_000


def found(
    *stood: Stood, registered: tuple[Registered, ...] = (MODULE_RAN,), source: list[str] | None = None
) -> SampledLines:
    """The lines of some stacks, at 20 samples a second; `train.py` is the user's."""
    known: Mapping[Place, Registered] = {one.place: one for one in registered}
    lines = SampledLines(
        Counting(known), lambda file: file == "train.py", lambda _: SOURCE if source is None else source, 20.0
    )
    for one in stood:
        lines.add(one)
    return lines


def on_main(*stack: Frame, ms: int = 100) -> Stood:
    """A stack of the main thread, outside of building."""
    return Stood(stack, ms * MS, main=True, building=False)


def brief(lines: SampledLines) -> list[tuple[Any, ...]]:
    """Function, first line, line, ms and samples of each row."""
    return [(r["function"], r["first_line"], r["line"], r["time_ns"] // MS, r["samples"]) for r in lines.rows()]


def test_lines_that_keras_called_are_filled_with_what_they_call() -> None:
    """100 ms at 20 Hz are 2 samples; the line that calls fit is counted, and not filled."""
    lines = found(on_main(MAIN, FIT, GET, COMPREHENSION, ROW), on_main(MAIN, FIT, GET, ms=50))

    assert brief(lines) == [("Data.__getitem__", 2, 3, 150, 3), ("Data.row", 5, 6, 100, 2)]


def test_a_filled_row_has_no_hits_and_says_that_it_is_sampled() -> None:
    """With the text of its line."""
    assert found(on_main(MAIN, FIT, ROW)).rows() == [
        {
            "file": "train.py",
            "function": "Data.row",
            "first_line": 5,
            "line": 6,
            "hits": None,
            "time_ns": 100 * MS,
            "source": "        return k",
            "how": "sampled",
            "samples": 2,
        }
    ]


def test_a_function_that_was_counted_is_filled_only_with_what_was_not() -> None:
    """It ran for 200 ms in the script, counted, and for 100 ms in fit."""
    ran = Registered("train.py", "Data.row", 5, frozenset({6}))
    lines = found(on_main(MAIN, ROW, ms=200), on_main(MAIN, FIT, ROW), registered=(MODULE_RAN, ran))

    assert brief(lines) == [("Data.row", 5, 6, 100, 2)]


def test_a_line_of_a_counted_function_without_a_count_is_filled_if_it_was_seen_twice() -> None:
    """The line that stood when the process was killed has none; a single sample may be misread."""
    unfinished = Registered("train.py", "<module>", 1, frozenset({1}))

    assert brief(found(on_main(MAIN, FIT), registered=(unfinished,))) == [("<module>", 1, 8, 100, 2)]
    assert brief(found(on_main(MAIN, FIT, ms=50), registered=(unfinished,))) == []


def test_all_threads_add_up() -> None:
    """Data are made on several."""
    other = Stood((ROW,), 200 * MS, main=False, building=False)

    assert brief(found(on_main(MAIN, FIT, ROW), other)) == [("Data.row", 5, 6, 300, 6)]


def test_a_comprehension_that_runs_elsewhere_is_code_of_its_own() -> None:
    """A generator expression handed to fit runs in no line of the function around it."""
    source = ["def main():", "    model.fit(work(k) for k in range(9))"]
    stack = (MAIN, FIT, Frame("main.<locals>.<genexpr>", "train.py", 2))

    assert brief(found(on_main(*stack), source=source)) == [("main.<locals>.<genexpr>", 2, 2, 100, 2)]


def test_without_the_source_a_function_is_the_nearest_that_counting_knows() -> None:
    """Or it is named as it was sampled, and where it begins is not known."""
    known = Registered("train.py", "Data.row", 5, frozenset())

    assert brief(found(on_main(FIT, ROW), source=[], registered=(known,))) == [("Data.row", 5, 6, 100, 2)]
    assert brief(found(on_main(FIT, ROW), source=[], registered=())) == [("row", None, 6, 100, 2)]


def test_a_line_number_that_could_not_be_read_is_passed_over() -> None:
    """It is 0 then."""
    assert found(on_main(FIT, Frame("row", "train.py", 0))).rows() == []


def test_functions_neither_counted_nor_seen_are_named() -> None:
    """So that none is silently absent; the module's own code needs no mention."""
    registered = (
        Registered("train.py", "<module>", 1, frozenset()),
        Registered("train.py", "Data.__getitem__", 2, frozenset()),
        Registered("train.py", "Data.row", 5, frozenset()),
    )

    assert found(on_main(MAIN, FIT, ROW), registered=registered).unseen() == ["Data.__getitem__ (train.py:2)"]


def counted_in_windows(*lines: tuple[int, int | None]) -> list[dict[str, Any]]:
    """Rows of `Data.row` as they were counted: line and hits."""
    return [
        {"file": "train.py", "function": "Data.row", "first_line": 5, "line": line, "hits": hits, "time_ns": 7,
         "source": "", "how": "scaled", "samples": None}
        for line, hits in lines
    ]  # fmt: skip


def test_lines_that_were_counted_in_windows_have_their_time_from_samples() -> None:
    """200 ms at 20 Hz are 4 samples; the hits stay; it is not told again as a line that was not counted."""
    ran = Registered("train.py", "Data.row", 5, frozenset({6}), thinned=True)
    lines = found(on_main(MAIN, ROW, ms=200), registered=(MODULE_RAN, ran))

    (row,) = lines.timed(counted_in_windows((6, 900)))

    assert (row["hits"], row["time_ns"], row["samples"], row["how"]) == (900, 200 * MS, 4, "scaled")
    assert lines.rows() == []


def test_a_line_that_was_counted_in_windows_and_not_seen_has_no_sample() -> None:
    """What the line profiler measured in the windows holds its own tax, and is not told beside samples."""
    ran = Registered("train.py", "Data.row", 5, frozenset({5, 6}), thinned=True)
    lines = found(on_main(MAIN, ROW), registered=(MODULE_RAN, ran))

    first, _ = lines.timed(counted_in_windows((5, 1), (6, 900)))

    assert (first["hits"], first["time_ns"], first["samples"]) == (1, 0, 0)


def test_a_line_that_was_seen_only_in_samples_is_added_to_its_scaled_function() -> None:
    """The windows never met it: its hits are not known."""
    ran = Registered("train.py", "Data.row", 5, frozenset({5}), thinned=True)
    lines = found(on_main(MAIN, ROW), registered=(MODULE_RAN, ran))

    _, added = lines.timed(counted_in_windows((5, 1)))

    assert (added["line"], added["hits"], added["time_ns"], added["how"]) == (6, None, 100 * MS, "scaled")


def test_without_samples_times_stay_as_they_were_counted() -> None:
    """Stacks were not asked for."""
    assert found().timed(counted_in_windows((6, 900)))[0]["time_ns"] == 7
