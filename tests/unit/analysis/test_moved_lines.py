"""Which line of one run is which of another's."""

from __future__ import annotations

from dlprof.analysis import moved_lines
from dlprof.analysis.moved_lines import LineKey

PREPARE = ("out = empty_like(rows)", "for row in rows:", "out[i] = row - row.mean()", "return out")


def lines(file: str, function: str, *texts: str) -> list[LineKey]:
    """Lines of a function, each text once."""
    return [LineKey(file, function, text, 1) for text in texts]


def test_a_function_of_another_name_is_the_same_by_its_lines() -> None:
    """And the line that calls it by that name is the same line."""
    a = [*lines("train.py", "prepare", *PREPARE), *lines("train.py", "main", "x = prepare(x)")]
    b = [*lines("train.py", "standardise", *PREPARE), *lines("train.py", "main", "x = standardise(x)")]

    assert moved_lines.matches(a, b, {}) == dict(zip(b, a, strict=True))


def test_a_function_in_another_file_is_the_same() -> None:
    """By its name even where half of it changed: what both have is joined."""
    a, b = lines("train.py", "prepare", *PREPARE), lines("helpers.py", "prepare", *PREPARE[:2], "a()", "b()")

    assert moved_lines.matches(a, b, {}) == {b[0]: a[0], b[1]: a[1]}


def test_functions_of_other_lines_and_names_are_others() -> None:
    """A line of each has the same text, but twice on one side: which one it is, nobody knows."""
    a = lines("train.py", "prepare", "n += 1", *PREPARE)
    b = [*lines("train.py", "f", "n += 1", "a()", "b()"), *lines("train.py", "g", "n += 1", "c()", "d()")]

    assert moved_lines.matches(a, b, {}) == {}


def test_a_loop_that_became_a_class_has_the_same_lines() -> None:
    """But for `self.`, which is no difference of what they do."""
    a = lines("train.py", "main", "loss.backward()", "optimizer.step()")
    b = lines("train.py", "Trainer.step", "loss.backward()", "self.optimizer.step()")

    assert moved_lines.matches(a, b, {}) == dict(zip(b, a, strict=True))


def test_lines_without_text_are_joined_by_nothing() -> None:
    """No copy of their files was kept."""
    assert moved_lines.matches(lines("a.py", "f", ""), lines("b.py", "g", ""), {}) == {}
