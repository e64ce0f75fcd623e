"""What the cores of this machine can do at most: floating-point operations and bytes per second, measured once.

Products of square matrices (NumPy's BLAS, all cores) and copies of arrays that no cache holds, each for a third of a
second, the best of several: other programs only ever make them slower. Measured in a process of its own, so that
settings of threads that the user has made for a script do not bind it, and its memory is gone afterwards. OpenBLAS may
choose the code of an older processor: on one with AVX-512 a second process is told to use that.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from dlprof.launch import bytecode, processor
from dlprof.launch.data_folder import data_folder
from dlprof.schema.manifest import Ceilings

if TYPE_CHECKING:
    import numpy as np

_SECONDS = 0.35
"""For each figure."""
_EDGE = 2048
"""Rows of the matrices: large enough that what is around the product costs nothing."""
_COPIED = 1 << 26
"""Bytes that each core copies at a time."""
_LIMIT_S = 60.0
_CODE = "OPENBLAS_CORETYPE"
_WIDE = ("avx512f", "SkylakeX")
"""OpenBLAS 0.3.31 takes the code of Haswell for an AMD EPYC with AVX-512: 260 GFLOP/s, and 465 with SkylakeX's."""
_BINDING = ("_NUM_THREADS", "OMP_", "KMP_", "MKL_", "GOTO_")
"""Variables that tell libraries how many threads to use have these in their names."""


def known() -> Ceilings | None:
    """What was measured here before; None: nothing, or on another machine or with other cores."""
    try:
        kept = msgspec.json.decode(_file().read_bytes(), type=Ceilings)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    return kept if (kept.cpu, kept.cores) == _here() else None


def measure() -> Ceilings | None:
    """Measure now (two to four seconds), and keep it, with what was better before; None: it failed."""
    best = _measured({})
    if best is None:
        return None
    feature, code = _WIDE
    for other in (_measured({_CODE: code}) if processor.has(feature) else None, known()):
        best = _better(best, other)
    with contextlib.suppress(OSError):
        file = _file()
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f"{file.name}.{os.getpid()}")
        part.write_bytes(msgspec.json.encode(best))
        part.replace(file)
    return best


def _measured(more: Mapping[str, str]) -> Ceilings | None:
    """Measure in a process with more variables than those of this one; None: it failed."""
    environment = {name: value for name, value in os.environ.items() if not _binds(name)}
    try:
        told = subprocess.run(
            [sys.executable, *bytecode.flags(), "-P", "-m", "dlprof.launch.ceilings"],
            capture_output=True, env={**environment, **more}, timeout=_LIMIT_S, check=True,
        ).stdout  # fmt: skip
        return msgspec.json.decode(told, type=Ceilings)
    except (OSError, subprocess.SubprocessError, msgspec.DecodeError):
        return None


def _file() -> Path:
    return data_folder() / "ceilings.json"


def _here() -> tuple[str | None, int]:
    return processor.name(), len(os.sched_getaffinity(0))


def _binds(name: str) -> bool:
    return any(word in name for word in _BINDING)


def _better(one: Ceilings, other: Ceilings | None) -> Ceilings:
    if other is None:
        return one
    flops = {kind: max(rate, other.flops_per_s.get(kind, 0.0)) for kind, rate in one.flops_per_s.items()}
    return msgspec.structs.replace(one, flops_per_s=flops, bytes_per_s=max(one.bytes_per_s, other.bytes_per_s))


def taken() -> Ceilings:
    """Measure in this process."""
    cpu, cores = _here()
    return Ceilings(
        cpu=cpu,
        cores=cores,
        flops_per_s={kind: _products(kind) for kind in ("float32", "float64")},
        bytes_per_s=_copies(cores),
    )


def _products(kind: str) -> float:
    """Operations per second of products of matrices."""
    import numpy as np  # noqa: PLC0415

    one = np.ones((_EDGE, _EDGE), kind)
    into = np.empty_like(one)
    return 2.0 * _EDGE**3 / _fastest(lambda: np.matmul(one, one, out=into))


def _copies(cores: int) -> float:
    """Bytes per second, read and written, while all cores copy."""
    import numpy as np  # noqa: PLC0415

    pairs = [(np.ones(_COPIED // 8), np.ones(_COPIED // 8)) for _ in range(cores)]

    def copy(pair: tuple[np.ndarray, np.ndarray]) -> None:
        np.copyto(*pair)

    with ThreadPoolExecutor(cores) as pool:
        return 2.0 * _COPIED * cores / _fastest(lambda: list(pool.map(copy, pairs)))


def _fastest(work: Callable[[], object]) -> float:
    """The least time that some work took (s)."""
    least, end = float("inf"), time.perf_counter() + _SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        work()
        least = min(least, time.perf_counter() - start)
    return least


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(taken()))
