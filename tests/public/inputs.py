"""Makes up what scripts read: random data in the formats that they load, the same each time."""

from __future__ import annotations

import gzip
import pickle
import random
import struct
import tarfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np

_PIXELS = 28
_COLOURS = 3 * 32 * 32


def idx(target: Path, train: int, test: int) -> None:
    """The four files of MNIST, in a folder, plain and packed, as `train` and `test` images of ten kinds."""
    target.mkdir(parents=True, exist_ok=True)
    for name, count in (("train", train), ("t10k", test)):
        images, labels = _digits(count)
        files = {
            f"{name}-images-idx3-ubyte": struct.pack(">IIII", 2051, count, _PIXELS, _PIXELS) + images.tobytes(),
            f"{name}-labels-idx1-ubyte": struct.pack(">II", 2049, count) + labels.tobytes(),
        }
        for file, content in files.items():
            (target / file).write_bytes(content)
            (target / f"{file}.gz").write_bytes(gzip.compress(content, mtime=0))


def _digits(count: int) -> tuple[np.ndarray, np.ndarray]:
    numbers = np.random.default_rng(count)
    labels = (np.arange(count) % 10).astype(np.uint8)
    images = numbers.integers(0, 96, (count, _PIXELS, _PIXELS), dtype=np.uint8)
    for place, label in enumerate(labels):
        images[place, 2 * label : 2 * label + 4] = 224
    return images, labels


def mnist_arrays(target: Path, train: int, test: int) -> None:
    """MNIST as Keras keeps it: one file of arrays `x_train`, `y_train`, `x_test` and `y_test`."""
    images, labels = _digits(train)
    others, kinds = _digits(test)
    target.parent.mkdir(parents=True, exist_ok=True)
    np.savez(target, x_train=images, y_train=labels, x_test=others, y_test=kinds)


def chainer_mnist(target: Path, train: int, test: int) -> None:
    """MNIST as Chainer keeps it: two files of arrays `x` and `y`, in a folder."""
    target.mkdir(parents=True, exist_ok=True)
    for name, count in (("train", train), ("test", test)):
        images, labels = _digits(count)
        with (target / f"{name}.npz").open("wb") as file:
            np.savez(file, x=images.reshape(count, -1), y=labels)


def mnist_pickle(target: Path, train: int, valid: int, test: int) -> None:
    """MNIST as three pickled pairs of images, from 0 to 1, and labels."""
    target.parent.mkdir(parents=True, exist_ok=True)
    sets = [_digits(count) for count in (train, valid, test)]
    pairs = [
        (images.reshape(len(images), -1).astype("float32") / 255, labels.astype("int64")) for images, labels in sets
    ]
    target.write_bytes(gzip.compress(_pickled(pairs), mtime=0))


def cifar_batches(target: Path, each: int) -> None:
    """The archive of CIFAR-10 for Python: five batches and a test batch of `each` images."""
    target.parent.mkdir(parents=True, exist_ok=True)
    numbers = np.random.default_rng(10)
    with tarfile.open(target, "w:gz") as archive:
        for name in (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"):
            data = numbers.integers(0, 256, (each, _COLOURS), dtype=np.uint8)
            batch = {"data": data, "labels": [number % 10 for number in range(each)]}
            _add(archive, f"cifar-10-batches-py/{name}", _pickled(batch))


def _pickled(value: object) -> bytes:
    """As an old NumPy reads it, too, which has its functions elsewhere."""
    return pickle.dumps(value, protocol=2).replace(b"numpy._core", b"numpy.core")


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    archive.addfile(info, BytesIO(content))


def words(target: Path, lines: int, each: int, vocabulary: int) -> None:
    """A text of `lines` lines with `each` words, of so many different ones."""
    numbers = random.Random(lines)
    names = [f"w{number}" for number in range(vocabulary)]
    rows = [" ".join(numbers.choice(names) for _ in range(each)) for _ in range(lines)]
    rows[0] = " ".join((names + rows[0].split())[: max(each, vocabulary)])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("".join(f" {row} \n" for row in rows), encoding="utf-8")


def letters(target: Path, count: int) -> None:
    """A text of `count` characters."""
    numbers = random.Random(count)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("".join(numbers.choice("abcdefgh ij\n") for _ in range(count)), encoding="utf-8")


def waves(target: Path, rows: int, length: int) -> None:
    """Sine waves, an array of `rows` by `length`, as PyTorch saves one."""
    phases = np.random.default_rng(rows).integers(-80, 80, (rows, 1))
    target.parent.mkdir(parents=True, exist_ok=True)
    np.save(target.with_suffix(".npy"), np.sin((np.arange(length) + phases) / 20.0))


def text(target: Path, content: str) -> None:
    """A small file, as it is given."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(content, encoding="utf-8")


KINDS: dict[str, Callable[..., None]] = {
    one.__name__: one
    for one in (idx, mnist_arrays, chainer_mnist, mnist_pickle, cifar_batches, words, letters, waves, text)
}
"""By the names that the tables use."""
