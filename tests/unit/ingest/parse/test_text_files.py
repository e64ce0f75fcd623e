"""Numbers in text files are checked before they are believed."""

from __future__ import annotations

import gzip
from decimal import Decimal
from pathlib import Path

import pytest

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.parse.text_files import as_ns, each_line, number_in, text_lines, whole_in


@pytest.mark.parametrize("text", ["", "-1", "nan", "inf", "1e400", "1_0", " 1", "0x1"])
def test_what_is_no_plain_number_is_refused(text: str) -> None:
    """Also what Python would take for one."""
    with pytest.raises(ValueError, match="is not a number"):
        number_in(text)
    with pytest.raises(ValueError, match="is not a whole number"):
        whole_in(text)


def test_a_time_keeps_its_digits() -> None:
    """As decimal numbers have them."""
    assert as_ns(number_in("0.123456789"), 1_000_000_000) == 123_456_789


def test_a_time_that_no_run_has_is_refused() -> None:
    """Sums of two must fit into 64 bits."""
    with pytest.raises(ValueError, match="out of range"):
        as_ns(Decimal(10**18), 1_000_000_000)


def test_lines_have_numbers_and_no_ends(tmp_path: Path) -> None:
    """Packed or not; what is no UTF-8 is replaced, a mark of the byte order is none of the text."""
    path = tmp_path / "t.txt.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbfa\r\nb\xff\n"))

    assert list(text_lines(path)) == [(1, "a"), (2, "b\N{REPLACEMENT CHARACTER}")]


def test_what_is_wrong_with_a_line_is_told_with_its_number(tmp_path: Path) -> None:
    """And with the name of the file."""
    path = tmp_path / "t.txt"
    path.write_text("1\nx\n")

    numbers: list[int] = []
    with pytest.raises(ArtifactError, match=r"t\.txt: line 2: 'x' is not a whole number"):
        each_line(path, lambda text: numbers.append(whole_in(text)))
    assert numbers == [1]
