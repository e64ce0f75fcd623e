"""Where a class keeps what it has made."""

from __future__ import annotations

import pytest

from dlprof.analysis import source_kept

ASKED = """
class Clips:
    def __init__(self):
        self.kept = {}
    def __getitem__(self, i):
        %s
"""


def line_of(text: str) -> int | None:
    """Of the class `Clips`."""
    return source_kept.line_of(text.splitlines(), "Clips")


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("if i not in self.kept: self.kept[i] = read(i)", 6),
        ("if self.kept[i] is None: self.kept[i] = read(i)", 6),
        ("found = self.kept.get(i)\n        if found is None: found = self.kept[i] = read(i)", 7),
        ("try: return self.kept[i]\n        except KeyError: self.kept[i] = read(i)", 7),
        ("if i in KEPT: return KEPT[i]\n        KEPT[i] = read(i)", 7),
    ],
)
def test_what_is_asked_for_and_filled_by_a_key_is_kept(body: str, line: int) -> None:
    """In an attribute or in a variable of the file."""
    assert line_of(ASKED % body) == line


@pytest.mark.parametrize(
    "body",
    [
        "self.kept[i] = read(i)",
        "if i in self.known: self.kept[i] = read(i)",
        "x = read(i)\n        if x[0] is None: x[:2] = 0",
        "return read(i)",
    ],
)
def test_what_is_only_written_is_none(body: str) -> None:
    """A counter of how often a row was asked for, say."""
    assert line_of(ASKED % body) is None


def test_what_a_method_keeps_that_is_called_for_an_item_counts() -> None:
    """And what a cache of Python's does; not what is kept before any item is asked for."""
    used = (
        "class Clips:\n  def __getitem__(self, i): return self.read(i)\n  @lru_cache(64)\n  def read(self, i): return 1"
    )
    unused = used.replace("self.read(i)", "1")
    of_file = "@functools.cache\ndef read(i): return 1\nclass Clips:\n  def __getitem__(self, i): return read(i)"

    assert (line_of(used), line_of(unused), line_of(of_file)) == (4, None, 2)


def test_other_classes_and_what_is_no_python_keep_nothing() -> None:
    """Of a notebook's magic, say."""
    assert line_of((ASKED % "if i not in self.kept: self.kept[i] = 1").replace("Clips", "Others")) is None
    assert line_of("%time x") is None
