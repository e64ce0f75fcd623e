"""Work on files, in sampled stacks: in a library for that, or in a call that a line of the script names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from dlprof.analysis import source_calls, source_loops
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import SourceLine
from dlprof.analysis.samples import Sample
from dlprof.analysis.stacks import Frame

_FILES = (
    "numpy/lib/npyio", "numpy/lib/_npyio", "numpy/lib/format", "numpy/lib/_format", "numpy/lib/_iotools",
    "numpy/lib/_datasource", "pandas/io/", "h5py/", "PIL/", "<python>/gzip", "<python>/zipfile", "<python>/tarfile",
    "<python>/_compression", "<python>/pickle", "<python>/csv", "<python>/shutil", "<python>/pathlib",
)  # fmt: skip
_WRITING = frozenset({
    "write", "flush", "fsync", "save", "savetxt", "savez", "savez_compressed", "dump", "write_text", "write_bytes",
    "writerow", "writerows", "to_csv",
})  # fmt: skip
_FUNCTIONS = _WRITING | {
    "open", "read", "readline", "readlines", "load", "loadtxt", "genfromtxt", "fromfile", "read_array", "read_bytes",
    "read_text", "read_csv", "imread",
}  # fmt: skip
OF_CHUNKS = (
    "HDF5 reads and unpacks a whole chunk for each row that is asked of it: chunks of many rows for rows here and "
    "there are mostly unpacked for nothing, and chunks of one row are read one by one."
)
"""What rows of HDF5 archives cost, as advice says it."""
CHUNKS = (
    "rows = f['x'][:] once, where they fit into memory; else create_dataset(chunks=...) of few rows, or batches of "
    "rows that lie together"
)
"""The code for that."""
OF_TEXT = (
    "Numbers are made into text, or read out of it, one by one: 20,000 rows of 64 took NumPy 350 times as long to "
    "write and 145 times as long to read as the same array in its own format. Keep arrays in that, and write texts for "
    "others once, after the training."
)
"""What texts of numbers cost, as advice says it."""
BINARY = "np.save(path, array) and np.load(path) in the place of np.savetxt and np.loadtxt"
"""The code for that."""
_TEXTS = frozenset({"savetxt", "loadtxt", "genfromtxt"})
_HDF5 = re.compile(r"^\s*(import|from) (h5py|tables)\b")
_CALLED = re.compile(r"(\bdef\s+|\bself\.|\.)?\b(\w+)\(")
"""Of what and which: what the script itself defines has lines of its own in which a stack would stand."""
_SAVING = ("keras/src/saving/", "keras/saving/", "keras/engine/saving")
"""What Keras saves is a cause of its own."""


def stands_in(case: Case, sample: Sample) -> bool:
    """Whether the user's innermost line stands in work on a file."""
    if any(frame.file.startswith(_SAVING) for frame in sample.frames):
        return False
    for frame in sample.frames:
        if frame.file in case.code.user_files:
            return _calls_a_file(case, frame)
        if frame.file.startswith(_FILES) or frame.name in _FUNCTIONS:
            return True
    return False


def is_of_text(sample: Sample) -> bool:
    """Whether NumPy writes or reads numbers as text in a sample."""
    return any(frame.name in _TEXTS and frame.file.startswith("numpy/") for frame in sample.frames)


def is_of_hdf5(case: Case, file: str) -> bool:
    """Whether a file of the script's works on HDF5 archives."""
    return any(_HDF5.match(text) for text in case.code.lines(file))


def writes(case: Case, line: SourceLine) -> bool:
    """Whether the text of a line of the script calls a method that writes to a file."""
    source = case.code.source(*line)
    return any(f".{name}(" in source for name in _WRITING)


def _calls_a_file(case: Case, frame: Frame) -> bool:
    """Whether the text of a line that stands there itself, in a call of C, is one on files.

    A loop within brackets is a frame of its own: what makes the text that is written works on no file.
    """
    source = case.code.source(frame.file, frame.line)
    if frame.name == "<genexpr>":
        tree = source_loops.parsed([source.strip()])
        return tree is not None and any(map(_names_a_file, _of_generators(tree)))
    return any(
        name in _FUNCTIONS and (of == "." or (not of.startswith("def") and name not in case.code.defined))
        for of, name in _CALLED.findall(source)
    )


def _of_generators(tree: ast.AST) -> Iterator[ast.AST]:
    """All that stands in the generator expressions of a line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.GeneratorExp):
            yield from ast.walk(node)


def _names_a_file(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and source_calls.called(node) in _FUNCTIONS
