"""The matrix of a benchmark: what is run, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.bench import matrix
from dlprof.errors import NoInputError, UsageError
from tests.unit.bench.matrices import GOOD, written


def test_a_matrix_names_every_pair_as_often_as_it_says(tmp_path: Path) -> None:
    """Work x set x backend x repeat."""
    found = matrix.load(written(tmp_path, GOOD))

    assert found.name == "m"
    assert found.work[0].arguments == ("--n", "3")
    assert sorted(cell.name for cell in found.cells()) == [
        "a-mxnet-001",
        "a-mxnet-002",
        "a-tensorflow-001",
        "a-tensorflow-002",
        "b-large-jax-001",
        "b-large-jax-002",
        "b-small-jax-001",
        "b-small-jax-002",
    ]


def test_every_pair_runs_once_before_any_runs_twice(tmp_path: Path) -> None:
    """And the order is the seed's."""
    path = written(tmp_path, GOOD)
    first = [cell.name for cell in matrix.load(path).cells()]

    assert {name[-3:] for name in first[:4]} == {"001"}
    assert [cell.name for cell in matrix.load(path).cells()] == first
    written(tmp_path, GOOD.replace("seed = 7", "seed = 8").replace("repeat = 2", "repeat = 20"))
    orders = [[c.name[:-4] for c in matrix.load(path).cells()][4 * n : 4 * n + 4] for n in range(20)]
    assert len({tuple(order) for order in orders}) > 5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "nothing to run"),
        ("work = 3", "work must be a list"),
        ("[[work]]\n", "has no script"),
        ("[[work]]\nscript = 'a.py'\n", "no backends"),
        ("[[work]]\nscript = 'a.py'\nbackends = ['tensorflo']\n", "There is no backend tensorflo"),
        ("[[work]]\nscript = 'a.py'\nbackends = ['jax', 'jax']\n", "names one twice"),
        ("[[work]]\nscript = 'a.py'\nbackend = ['jax']\n", "unknown key backend"),
        ("repeats = 3\n[[work]]\nscript = 'a.py'\n", "unknown key repeats"),
        ("repeat = 0\nbackends = ['jax']\n[[work]]\nscript = 'a.py'\n", "repeat must be a whole number from 1"),
        ("repeat = true\nbackends = ['jax']\n[[work]]\nscript = 'a.py'\n", "repeat must be a whole number"),
        ("limit_s = -1\nbackends = ['jax']\n[[work]]\nscript = 'a.py'\n", "limit_s must be"),
        ("backends = ['jax']\n[[work]]\nscript = 'a.py'\n[[work]]\nscript = 'a.py'\n", "two [[work]] have the name a"),
        ("backends = ['jax']\n[[work]]\nname = '../x'\nscript = 'a.py'\n", "name must be letters"),
        ("backends = ['jax']\n[[work]]\nscript = 'a.py'\narguments = [{}]\n", "arguments must be texts or numbers"),
        ("backends = ['jax']\n[trace]\noutput = 'x'\n[[work]]\nscript = 'a.py'\n", "[trace] unknown key output"),
        ("[[work", "cannot be read"),
    ],
)
def test_a_matrix_that_makes_no_sense_is_refused(text: str, words: str, tmp_path: Path) -> None:
    """With its name and what is wrong."""
    path = written(tmp_path, text)
    with pytest.raises(UsageError) as error:
        matrix.load(path)
    assert words in error.value.message
    assert str(path) in error.value.message


def test_a_matrix_or_a_script_that_is_not_there_is_no_input(tmp_path: Path) -> None:
    """As for every other command."""
    with pytest.raises(NoInputError):
        matrix.load(tmp_path / "none.toml")
    with pytest.raises(NoInputError, match=r"there is no script b\.py"):
        matrix.load(written(tmp_path, "backends = ['jax']\n[[work]]\nscript = 'b.py'\n"))
