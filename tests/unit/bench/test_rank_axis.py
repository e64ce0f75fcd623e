"""The axis of ranks in a matrix."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.bench import matrix, rank_axis
from dlprof.errors import UsageError
from tests.unit.bench.matrices import written

RANKS = """
repeat = 1
backends = ["native-torch"]
ranks = [4, 1, 2]
[[work]]
script = "a.py"
arguments = ["--batch", "{512/ranks}", "--of={ranks}"]
[[work]]
name = "weak"
script = "a.py"
arguments = ["--samples", "{ 1024 * ranks }"]
scaling = "weak"
ranks = [1, 3]
threads = 2
"""


def test_arguments_are_filled_with_the_number_of_ranks() -> None:
    """As it is, multiplied, divided; other braces stay."""
    assert rank_axis.filled("a={ranks},b={3*ranks},c={12/ranks},{rank}", 4) == "a=4,b=12,c=3,{rank}"


def test_a_work_is_run_with_each_number_of_ranks(tmp_path: Path) -> None:
    """Its own numbers come before those at the top."""
    found = matrix.load(written(tmp_path, RANKS))
    assert {cell.name: (cell.ranks, cell.arguments) for cell in found.cells()} == {
        "a-native-torch-1-ranks-001": (1, ("--batch", "512", "--of=1")),
        "a-native-torch-2-ranks-001": (2, ("--batch", "256", "--of=2")),
        "a-native-torch-4-ranks-001": (4, ("--batch", "128", "--of=4")),
        "weak-native-torch-1-ranks-001": (1, ("--samples", "1024")),
        "weak-native-torch-3-ranks-001": (3, ("--samples", "3072")),
    }
    assert [work.axis for work in found.work] == [
        rank_axis.RankAxis((1, 2, 4), "strong", 1),
        rank_axis.RankAxis((1, 3), "weak", 2),
    ]


def test_ranks_are_a_part_of_what_is_run(tmp_path: Path) -> None:
    """A folder of results of other ranks is another benchmark's."""
    first = matrix.load(written(tmp_path, RANKS)).digest
    assert matrix.load(written(tmp_path, RANKS.replace("[1, 3]", "[1, 2]"))).digest != first


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("ranks = [4, 1, 2]", "ranks = []", "ranks must be a list of whole numbers from 1 to 4096"),
        ("ranks = [4, 1, 2]", "ranks = [0]", "ranks must be a list of whole numbers"),
        ("ranks = [4, 1, 2]", "ranks = [2, 2]", "ranks names a number twice"),
        ("ranks = [4, 1, 2]", "ranks = [3]", "a: 512 cannot be divided among 3 ranks"),
        ("ranks = [4, 1, 2]", "", None),
        ('"native-torch"', '"jax"', "ranks are started by torchrun, and jax has no PyTorch"),
        ('"weak"\nranks', '"some"\nranks', "scaling must be one of strong, weak, not 'some'"),
        ("threads = 2", "threads = 0", "threads must be a whole number"),
        ("ranks = [1, 3]", "", None),
        ("ranks = [4, 1, 2]", "scaling = 'weak'", "scaling and threads are of ranks"),
    ],
)
def test_what_cannot_be_started_is_refused_before_anything_runs(
    tmp_path: Path, old: str, new: str, words: str | None
) -> None:
    """With the place, in a sentence; without ranks at the top a work may have its own."""
    assert old in RANKS
    path = written(tmp_path, RANKS.replace(old, new))
    if words is None:
        matrix.load(path)
        return
    with pytest.raises(UsageError, match=words.replace("[", r"\[")):
        matrix.load(path)
