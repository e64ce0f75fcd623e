"""Damaged and hostile files: one clear error, nothing left behind, bounded memory."""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dlprof.errors import NoInputError
from dlprof.ingest.artifact import ArtifactError, ProcessId
from dlprof.ingest.formats import registry as formats
from dlprof.ingest.formats.base import Sample
from dlprof.ingest.kernels import assemble
from dlprof.ingest.kernels.context import TraceContext
from tests.unit.ingest.formats.samples import (
    SAMPLES,
    put,
)
from tests.unit.ingest.imports import DATA, imported

FILES = (
    "hta_a100_triton.json.gz",
    "hta_mi250_rocm62.json.gz",
    "mxnet_gluon.json.gz",
    "tracelens_jax_gemm_mi300x.xplane.pb",
    "nvprof_summary.txt",
    "line_profiler.lprof",
)
MEMORY_LIMIT_KB = 800_000


def content(name: str) -> bytes:
    """A file, unpacked."""
    data = (DATA / name).read_bytes()
    return gzip.decompress(data) if name.endswith(".gz") else data


CONTENT = {name: content(name) for name in FILES}


def take(path: Path) -> None:
    """Read a file as an import does, up to the tables."""
    foreign = formats.read(path, formats.find(path))
    if foreign.trace is not None:
        assembly = assemble.Assembly()
        assembly.add(foreign.trace, TraceContext(ProcessId("h", 0, 1, 0), 0, 0))
        assembly.tables()


def mutated(data: bytes, seed: int) -> bytes:
    """`data` with some damage."""
    rng = random.Random(seed)
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 6))):
        at = rng.randrange(len(out)) if out else 0
        to = min(len(out), at + rng.choice((1, 4, 60, 3000)))
        how = rng.randrange(5)
        if how == 0:
            del out[at:]
        elif how == 1 and out:
            out[at] = rng.randrange(256)
        elif how == 2:
            out[at:at] = rng.choice((b"1e308", b"-1", b"null", b"[", b'"', b"\xff\xff\xff\xff\x7f", b"9" * 25))
        elif how == 3:
            del out[at:to]
        else:
            out[at:at] = out[at:to]
    return bytes(out)


@settings(
    max_examples=120, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("name", FILES)
@given(seed=st.integers(0, 2**32))
def test_damage_gives_the_readers_own_error_or_a_run(tmp_path: Path, name: str, seed: int) -> None:
    """Nothing else comes out, whatever was done to the file."""
    path = tmp_path / name.removesuffix(".gz")
    path.write_bytes(mutated(CONTENT[name], seed))
    try:
        take(path)
    except (ArtifactError, NoInputError):
        pass


def events(inner: str) -> bytes:
    """A trace of torch.profiler around events."""
    return f'{{"schemaVersion": 1, "traceEvents": [{inner}]}}'.encode()


GOOD = '{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 2, "pid": 1, "tid": 1}'
BAD: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "empty": ("t.json", lambda: b"", "the file is empty"),
    "empty xspace": ("h.xplane.pb", lambda: b"", "the file is empty"),
    "text": ("t.json", lambda: b"hello\n" * 50, "of no format that dlprof knows"),
    "garbage": ("t.bin", lambda: bytes(range(256)) * 40, "of no format that dlprof knows"),
    "cut json": ("t.json", lambda: events(GOOD)[:-20], "at byte"),
    "cut gzip": ("t.json.gz", lambda: (DATA / "hta_a100_alexnet.json.gz").read_bytes()[:9000], "damaged"),
    "gzip of nothing": ("t.json.gz", lambda: b"\x1f\x8b" + b"x" * 100, "damaged"),
    "nested in arguments": ("t.json", lambda: events(GOOD + ', {"ph": "X", "args": ' + "[" * 10**6 + "]" * 10**6 + "}"), "t.json"),
    "nested at the top": ("t.json", lambda: b'{"schemaVersion": 1, "x": ' + b"[" * 10**6 + b', "traceEvents": []}', "t.json"),
    "not closed": ("t.json", lambda: b'{"schemaVersion": 1, "traceEvents": [{"ph": "X", "name": "' + b"a" * 10**6, "at byte"),
    "lying length": ("h.xplane.pb", lambda: b"\x0a\x7f\x12\x05/host", "at byte"),
    "huge length": ("h.xplane.pb", lambda: b"\x0a\xff\xff\xff\xff\xff\x7f\x12\x05/host", "at byte"),
    "endless number": ("h.xplane.pb", lambda: b"\x0a\x0f\x12\x09/host:CPU" + b"\x08" + b"\xff" * 40, "at byte"),
    "sqlite": ("t.sqlite", lambda: b"SQLite format 3\x00" + b"\xff" * 5000, "t.sqlite"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_one_line_with_exit_code_4_and_leaves_nothing(tmp_path: Path, case: str) -> None:
    """It names the file, and where it can the byte."""
    name, make, words = BAD[case]
    (tmp_path / name).write_bytes(make())

    done = subprocess.run(
        [sys.executable, "-m", "dlprof", "import", name, "-o", "run"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (4, "")
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("dlprof: error: ") and name in lines[0] and words in lines[0]
    assert [path.name for path in tmp_path.iterdir()] == [name]


def peak_kb(path: Path) -> tuple[int, int]:
    """Exit code and peak memory (kB) of importing a file."""
    code = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run([sys.executable, '-m', 'dlprof', 'import', sys.argv[1], '-o', sys.argv[2]], capture_output=True, timeout=120)\n"
        "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), str(path.parent / "run")], capture_output=True, text=True, check=True
    )
    first, second = done.stdout.split()
    return int(first), int(second)


def bomb(path: Path, piece: bytes, count: int) -> Path:
    """A packed trace whose text is `count` times `piece` inside the array of events."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    with path.open("wb") as out:
        out.write(packer.compress(b'{"schemaVersion": 1, "traceEvents": [' + GOOD.encode()))
        for _ in range(count):
            out.write(packer.compress(piece))
        out.write(packer.compress(b"]}"))
        out.write(packer.flush())
    return path


def test_a_packed_file_of_two_gigabytes_of_blanks_needs_little_memory(tmp_path: Path) -> None:
    """It is given up when one event would be larger than any can be."""
    path = bomb(tmp_path / "bomb.json.gz", b" " * (1 << 20), 2048)
    assert path.stat().st_size < 3 << 20

    code, memory = peak_kb(path)

    assert code == 4
    assert memory < MEMORY_LIMIT_KB


def test_an_event_with_a_text_of_a_hundred_megabytes_needs_little_memory(tmp_path: Path) -> None:
    """It is refused."""
    path = bomb(tmp_path / "bomb.json.gz", b"a" * (1 << 20), 0)
    path.write_bytes(gzip.compress(events(GOOD + ', {"ph": "X", "name": "' + "a" * (100 << 20) + '"}'), 1))

    code, memory = peak_kb(path)

    assert code == 4
    assert memory < MEMORY_LIMIT_KB


def test_many_small_events_need_no_more_memory_than_few(tmp_path: Path) -> None:
    """200 MB of text, packed into 1 MB: read in pieces."""
    path = bomb(tmp_path / "many.json.gz", ("," + GOOD).encode() * 1000, 2000)

    code, memory = peak_kb(path)

    assert code == 0
    assert memory < MEMORY_LIMIT_KB


@pytest.mark.parametrize("name", ["tf1_mlp_step.runmeta.pb.gz", "cntk_mlp.json.gz"])
def test_a_cut_trace_of_an_older_engine_is_refused_or_says_so(tmp_path: Path, name: str) -> None:
    """One sentence with the place of the damage, or what is left with a line about what is missing."""
    whole = gzip.decompress((DATA / name).read_bytes())
    path = tmp_path / name.removesuffix(".gz")
    path.write_bytes(whole[: len(whole) * 2 // 3])

    with pytest.raises(ArtifactError) as caught:
        imported(tmp_path, path)

    assert caught.value.offset is not None


@pytest.mark.parametrize("name", ["nvprof_gpu_trace.csv.gz", "pyspy.speedscope.json.gz"])
def test_a_packed_file_that_is_cut_is_refused(name: str, tmp_path: Path) -> None:
    """Half of a gzip file is damage."""
    content = (DATA / name).read_bytes()
    reader = formats.find(DATA / name)

    with pytest.raises(ArtifactError):
        reader.read(put(tmp_path, content[: len(content) // 2]))


PIECES = [
    b"",
    b"\x00",
    b"\xff\xfe",
    b"-",
    b"nan",
    b"inf",
    b"9" * 40,
    b"e99",
    b"\n",
    b'"',
    b",",
    b";",
    b"1e400",
    b"\x80",
]


EDITS = st.lists(
    st.tuples(st.sampled_from(["cut", "flip", "insert", "drop"]), st.integers(0, 1 << 30), st.sampled_from(PIECES)),
    min_size=1,
    max_size=4,
)


def damaged(content: bytes, edits: list[tuple[str, int, bytes]]) -> bytes:
    """The content with some bytes cut off, flipped, put in or taken out."""
    for what, where, piece in edits:
        at = where % (len(content) + 1)
        if what == "cut":
            content = content[:at]
        elif what == "flip" and at < len(content):
            content = content[:at] + bytes([content[at] ^ (1 + where % 255)]) + content[at + 1 :]
        elif what == "insert":
            content = content[:at] + piece + content[at:]
        else:
            content = content[:at] + content[at + 1 + where % 50 :]
    return content


@pytest.mark.parametrize("name", SAMPLES)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=EDITS)
def test_damaged_files_raise_nothing_but_artifact_errors(name: str, tmp_path: Path, edits: Any) -> None:
    """Whatever bytes change, a reader reads the file or says what is wrong with it."""
    reader, content = SAMPLES[name]
    path = put(tmp_path, damaged(content(), edits))

    reader.claims(Sample(path, path.read_bytes()))
    try:
        reader.read(path)
    except ArtifactError:
        pass
