"""What errors suggest."""

from __future__ import annotations

import traceback

import pytest

from dlprof.errors import UsageError, did_you_mean, nearest


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("tensorflwo", ["tensorflow"]),
        ("TensorFlow", ["tensorflow"]),
        ("mxnet", ["20261120-101500-mlp-mxnet"]),
        ("zzz", []),
        ("ow", []),
    ],
)
def test_the_nearest_word_differs_by_few_letters_or_contains_the_typed_one(word: str, expected: list[str]) -> None:
    """A word of two letters is contained in too many."""
    assert nearest(word, ["tensorflow", "20261120-101500-mlp-mxnet", "jax"]) == expected


def test_of_several_that_contain_the_word_the_last_is_meant() -> None:
    """The latest of runs whose names begin with their times."""
    assert nearest("mlp", ["20261119-1200-mlp-jax", "20261120-0800-mlp-jax"]) == ["20261120-0800-mlp-jax"]


def test_a_suggestion_ends_the_sentence() -> None:
    """Or there is none."""
    assert did_you_mean("reprot", ["report"]) == "; did you mean report?"
    assert not did_you_mean("reprot", ["jax"])


def test_a_traceback_shows_what_to_try() -> None:
    """In Python and in notebooks nothing else would print it."""
    assert traceback.format_exception(UsageError("No such unit.", hint="ns, us, ms, s"))[-1] == "try: ns, us, ms, s\n"
    assert traceback.format_exception(UsageError("No such unit."))[-1].endswith("UsageError: No such unit.\n")
