"""Lines of two runs are joined by their text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlprof.analysis import line_pairs
from tests.unit import runs
from tests.unit.runs import MS


def line(number: int, source: str, ms: int, hits: int = 1) -> dict[str, Any]:
    """A row of `lines` of train.py."""
    return {
        "file": "train.py",
        "function": "main",
        "first_line": 1,
        "line": number,
        "hits": hits,
        "time_ns": ms * MS,
        "source": source,
    }


def test_lines_are_joined_by_their_text(tmp_path: Path) -> None:
    """A line that moved is still the same line; one that is new stands alone; equal ones keep their order."""
    a = runs.trained(tmp_path / "a", lines=[line(2, "f()", 30), line(3, "g()", 5), line(4, "g()", 7)])
    b = runs.trained(tmp_path / "b", lines=[line(5, "    f()", 10), line(6, "g()", 5), line(8, "h()", 1)])

    found = line_pairs.join([a], [b])

    told = {(one.line, one.source): (one.a_ns, one.b_ns) for one in found}
    assert told == {
        (2, "f()"): (30 * MS, 10 * MS),
        (3, "g()"): (5 * MS, 5 * MS),
        (4, "g()"): (7 * MS, None),
        (8, "h()"): (None, MS),
    }
    assert found[0].source == "f()"


def test_a_line_that_was_sampled_on_one_side_is_joined_without_hits(tmp_path: Path) -> None:
    """Its time stands beside the counted one; what was counted and sampled of one line adds up."""
    sampled = {**line(2, "f()", 30), "hits": None, "how": "sampled", "samples": 1}
    a = runs.trained(tmp_path / "a", lines=[sampled])
    b = runs.trained(tmp_path / "b", lines=[line(2, "f()", 10, hits=4), {**sampled, "time_ns": 2 * MS}])

    (pair,) = line_pairs.join([a], [b])

    assert (pair.a_hits, pair.a_ns, pair.b_hits, pair.b_ns) == (None, 30 * MS, 4, 12 * MS)


def test_means_of_scaled_hits_have_two_digits_at_most(tmp_path: Path) -> None:
    """One of two runs counted the line in windows: the mean is an estimate; of the other side it is none."""
    scaled = {**line(2, "f()", 30, 3000), "how": "scaled"}
    a = [runs.trained(tmp_path / name, lines=[one]) for name, one in (("a", scaled), ("b", line(2, "f()", 30, 585)))]
    b = runs.trained(tmp_path / "c", lines=[line(2, "f()", 10, 585)])

    (found,) = line_pairs.join(a, [b])

    assert (found.a_hits, found.a_scaled, found.b_hits, found.b_scaled) == (1800, True, 585, False)


def test_scripts_of_two_names_are_one_file(tmp_path: Path) -> None:
    """One before and one after a change: their lines stand beside each other, by the first one's name."""
    told = runs.manifest(command={**runs.manifest()["command"], "script": "/home/x/fixed.py"})
    a = runs.trained(tmp_path / "a", lines=[line(2, "f()", 30)])
    b = runs.trained(tmp_path / "b", told, lines=[{**line(5, "f()", 10), "file": "fixed.py"}])

    (pair,) = line_pairs.join([a], [b])

    assert (pair.file, pair.line, pair.a_ns, pair.b_ns) == ("train.py", 2, 30 * MS, 10 * MS)


def test_a_module_that_both_sides_have_keeps_its_name(tmp_path: Path) -> None:
    """`model.py` is B's script, and imported by A's."""
    told = runs.manifest(command={**runs.manifest()["command"], "script": "model.py"})
    a = runs.trained(tmp_path / "a", lines=[line(2, "f()", 30), {**line(2, "g()", 5), "file": "model.py"}])
    b = runs.trained(tmp_path / "b", told, lines=[{**line(2, "g()", 4), "file": "model.py"}])

    assert {(pair.file, pair.a_ns, pair.b_ns) for pair in line_pairs.join([a], [b])} == {
        ("train.py", 30 * MS, None),
        ("model.py", 5 * MS, 4 * MS),
    }


def test_a_line_of_a_function_that_moved_has_both_places(tmp_path: Path) -> None:
    """Before, it was one that went away and one that came."""
    a = runs.trained(tmp_path / "a", lines=[{**line(2, "f()", 30), "function": "prepare"}])
    there = {**line(5, "f()", 10), "function": "prepare", "file": "helpers.py"}
    b = runs.trained(tmp_path / "b", lines=[there])

    (pair,) = line_pairs.join([a], [b])

    assert (pair.file, pair.line, pair.b_file, pair.b_line) == ("train.py", 2, "helpers.py", 5)
    assert (pair.a_ns, pair.b_ns, pair.has_moved) == (30 * MS, 10 * MS, True)


def sampled(number: int, source: str, ms: int, samples: int) -> dict[str, Any]:
    """A row of a line that was seen in so many samples."""
    return {**line(number, source, ms), "hits": None, "how": "sampled", "samples": samples}


def test_a_difference_of_samples_is_noise_where_its_interval_holds_none(tmp_path: Path) -> None:
    """600 +- 100 and 450 +- 90 ms are not apart, 1600 +- 100 and 450 +- 90 are; noise stands behind what is none."""
    a = runs.trained(
        tmp_path / "a", lines=[sampled(2, "f()", 600, 36), sampled(3, "g()", 1600, 256), line(4, "h()", 5)]
    )
    b = runs.trained(tmp_path / "b", lines=[sampled(2, "f()", 450, 25), sampled(3, "g()", 450, 25), line(4, "h()", 4)])

    found = line_pairs.join([a], [b])

    assert [(one.source, one.within_noise, one.ci_ns) for one in found] == [
        ("g()", False, (803_434_646, 1_496_565_354)),
        ("h()", False, None),
        ("f()", True, (-196_565_354, 496_565_354)),
    ]


def test_several_runs_of_a_side_make_the_error_of_samples_smaller(tmp_path: Path) -> None:
    """Of four runs of 600 +- 100 ms each the mean is known to 50 ms; the other side was counted."""
    a = [runs.trained(tmp_path / f"a{n}", lines=[sampled(2, "f()", 600, 36)]) for n in range(4)]
    b = runs.trained(tmp_path / "b", lines=[line(2, "f()", 450)])

    (found,) = line_pairs.join(a, [b])

    assert (found.error_ns, found.within_noise) == (50 * MS, False)
