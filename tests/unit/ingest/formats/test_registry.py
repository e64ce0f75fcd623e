"""The formats, and which one a file is of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats import kineto, nvidia_smi, nvprof_text, theano_profile
from dlprof.ingest.formats import line_profiler as line_profiler_files
from dlprof.ingest.formats import pyspy as pyspy_files
from dlprof.ingest.formats import registry as formats
from dlprof.ingest.formats.base import Sample
from tests.unit.ingest.formats.samples import (
    SAMPLES,
    put,
)


def test_every_reader_says_what_it_reads() -> None:
    """Names are unique, and none claims a text that is nothing."""
    readers = formats.all_readers()
    nothing = Sample(Path("x.txt"), b"hello world\n" * 100)

    assert len({reader.name for reader in readers}) == len(readers)
    assert not [reader.name for reader in readers if reader.claims(nothing)]


MODULES = (nvprof_text, theano_profile, line_profiler_files, nvidia_smi, pyspy_files)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_is_claimed_by_its_own_reader_alone(name: str, tmp_path: Path) -> None:
    """But for that of any trace in Chrome's format, which is asked last."""
    reader, content = SAMPLES[name]
    sample = formats.sample(put(tmp_path, content()))

    assert [other.name for other in formats.READERS if other.claims(sample)][:1] == [reader.name]
    assert {other.name for other in formats.READERS if other.claims(sample)} <= {reader.name, "chrome"}


@pytest.mark.parametrize(
    "content",
    [
        '{"traceEvents": [{"ph": "X", "args": {"filename": "a.py"}}]}',
        '[{"ph": "X", "ts": 1, "dur": 2, "name": "f", "args": {"filename": "a.py"}}]',
        '[{"ph": "B", "ts": 1, "name": "f", "args": {"line": 1}}]',
        "a,b\n1,2\n",
        "a;b;c 10\n",
        " \n" * 60_000,
        "( " * 120_000,
        b"\x80\x04K\x01.",
    ],
)
def test_other_files_are_not_claimed(content: str | bytes, tmp_path: Path) -> None:
    """Chrome traces of nobody, tables, folded stacks and noise are left to the last reader, or to none."""
    sample = formats.sample(put(tmp_path, content))

    assert {reader.name for reader in formats.READERS if reader.claims(sample)} <= {"chrome"}


def test_the_page_on_imports_has_a_row_for_every_format() -> None:
    """In its table, by name; and none of a format that there is not."""
    page = Path(__file__).parents[4] / "docs" / "importing.md"
    table = page.read_text(encoding="utf-8").partition("| format |")[2].partition("\n\n")[0]
    cells = re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE)

    assert sorted(cells) == sorted(reader.name for reader in formats.READERS)


def test_a_reader_is_found_by_its_name() -> None:
    """That of nobody is None."""
    assert formats.named("kineto") is kineto.READER
    assert formats.named("nobody's") is None
    assert formats.named(None) is None


@pytest.mark.parametrize("content", ["[]", " [ ]\n", '{"traceEvents": []}'])
def test_a_trace_without_events_is_said_to_be_one(content: str, tmp_path: Path) -> None:
    """It is of a format that is known: its program recorded nothing."""
    with pytest.raises(ArtifactError, match="a trace without any event: nothing was recorded"):
        formats.find(put(tmp_path, content))
