"""Made-up inputs are in the formats that scripts load."""

from __future__ import annotations

import gzip
import pickle
import struct
import tarfile
from pathlib import Path

import numpy as np
import pytest

from tests.public import inputs
from tests.public.tables import CASES, ENVIRONMENTS


def test_the_files_of_mnist(tmp_path: Path) -> None:
    """Magic number, count and size before the bytes; plain and packed."""
    inputs.idx(tmp_path / "raw", 12, 3)

    images = (tmp_path / "raw" / "train-images-idx3-ubyte").read_bytes()
    labels = gzip.decompress((tmp_path / "raw" / "t10k-labels-idx1-ubyte.gz").read_bytes())
    assert (struct.unpack(">IIII", images[:16]), len(images)) == ((2051, 12, 28, 28), 16 + 12 * 784)
    assert (struct.unpack(">II", labels[:8]), labels[8:]) == ((2049, 3), b"\x00\x01\x02")


def test_the_same_input_is_made_each_time(tmp_path: Path) -> None:
    """Losses with and without dlprof are to be the same."""
    for name in "ab":
        inputs.words(tmp_path / name, 4, 5, 9)

    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_pickled_digits(tmp_path: Path) -> None:
    """Three pairs, of so many rows."""
    inputs.mnist_pickle(tmp_path / "mnist.pkl.gz", 4, 3, 2)

    pairs = pickle.loads(gzip.decompress((tmp_path / "mnist.pkl.gz").read_bytes()))  # noqa: S301
    assert [(x.shape, y.shape) for x, y in pairs] == [((4, 784), (4,)), ((3, 784), (3,)), ((2, 784), (2,))]


def test_batches_of_cifar(tmp_path: Path) -> None:
    """Six pickles in an archive."""
    inputs.cifar_batches(tmp_path / "cifar.tar.gz", 2)

    with tarfile.open(tmp_path / "cifar.tar.gz") as archive:
        assert len(archive.getnames()) == 6
        test = archive.extractfile("cifar-10-batches-py/test_batch")
        assert test is not None
        assert np.shape(pickle.loads(test.read())["data"]) == (2, 3072)  # noqa: S301


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_table_can_be_run(case: object) -> None:
    """Its environments and kinds of inputs are there, its commits are whole, and an exception has its reason."""
    from tests.public.case import Case

    assert isinstance(case, Case)
    assert case.environment in ENVIRONMENTS
    assert {one.kind for one in case.inputs} <= inputs.KINDS.keys()
    assert len(case.source.commit) == 40
    assert case.script_percent <= 10.0 or case.because


def test_each_script_has_a_name_of_its_own() -> None:
    """Its folders are called after it."""
    assert len({case.name for case in CASES}) == len(CASES)
