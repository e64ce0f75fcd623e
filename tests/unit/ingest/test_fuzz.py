"""The fuzzer of the readers, and what it once found."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from dlprof.ingest.formats import registry
from dlprof.ingest.formats.base import FileContent, Reader
from tests.fuzz import __main__ as fuzz
from tests.fuzz import chain, mutations, seeds, workers
from tests.fuzz.workers import Escape, Outcome, Task

CORPUS = sorted((Path(seeds.__file__).parent / "corpus").glob("*-*"))
READERS = [reader.name for reader in registry.READERS]


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_has_a_seed_that_it_reads(reader: str, tmp_path: Path) -> None:
    """So that a reader that is added is fuzzed, too."""
    known = registry.named(reader)
    assert known is not None
    seed = min(seeds.of(reader), key=lambda seed: len(seed.content))
    path = tmp_path / f"seed{seed.suffix}"
    path.write_bytes(seed.content)

    assert chain.through_reader(path, known) == "read"


def test_an_input_is_told_by_reader_seed_and_number() -> None:
    """The same numbers give the same bytes; others give others."""
    once = [workers.content_of("xspace", 1, number) for number in range(20)]

    assert once == [workers.content_of("xspace", 1, number) for number in range(20)]
    assert len(set(once)) > 15


@pytest.mark.parametrize("reader", ["kineto", "tf1-steps", "nsys", "nvprof-text", "line-profiler"])
def test_damage_in_the_structure_leaves_much_that_is_still_read(reader: str, tmp_path: Path) -> None:
    """Inputs that are refused at their first byte would find nothing behind it."""
    known = registry.named(reader)
    assert known is not None
    rng, seed = random.Random(1), min(seeds.of(reader), key=lambda seed: len(seed.content))
    path = tmp_path / f"input{seed.suffix}"
    said = []
    for _ in range(20):
        path.write_bytes(mutations.mutated(seed.content, rng))
        said.append(chain.through_reader(path, known))

    assert 3 <= said.count("read") < 20


def test_what_the_registry_hides_is_an_escape(tmp_path: Path) -> None:
    """A reader tells its own error; the net below it is for those of other packages."""

    def read(_path: Path) -> FileContent:
        raise IndexError

    with pytest.raises(chain.HiddenError, match="IndexError"):
        chain.through_reader(tmp_path, Reader("x", "x", lambda _sample: True, read))


def test_escapes_of_one_place_are_kept_once_and_counted() -> None:
    """Their number is that of the inputs."""
    sums = fuzz.Sums()
    task = Task("xspace", 1, 0, 3)
    found = Outcome(escapes=[Escape("xspace", number, "ValueError at a.py:1", "", b"") for number in (1, 2)])
    found.counts.update({"read": 1, "escaped": 2})

    assert [escape.number for escape in sums.add(task, found)] == [1]
    assert (sums.inputs, dict(sums.times)) == (3, {"xspace: ValueError at a.py:1": 2})


def test_inputs_are_shared_out_among_the_readers() -> None:
    """In turn; the last task has what is left."""
    given = list(fuzz.tasks(["a", "b"], 1, None, 1100))

    assert [(task.reader, task.first, task.count) for task in given] == [
        ("a", 0, 500),
        ("b", 0, 500),
        ("a", 500, 100),
    ]


@pytest.mark.parametrize("path", CORPUS, ids=[path.name for path in CORPUS])
def test_what_once_escaped_is_read_or_refused(path: Path, tmp_path: Path) -> None:
    """Through import, reports and page."""
    assert chain.through_all(path, tmp_path / "run") in ("read", "refused")
