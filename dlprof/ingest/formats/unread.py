"""Files of commonplace tools that no reader reads: what each is, and what of the same tool is read, or shows it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from dlprof.ingest.formats.base import Sample


@dataclass(frozen=True)
class _Known:
    """A sort of file.

    Attributes:
        is_one: Whether a file is of it.
        told: What it is, and what to do, as a part of a sentence.
    """

    is_one: Callable[[Sample], bool]
    told: str


def _begins(*heads: bytes) -> Callable[[Sample], bool]:
    return lambda sample: sample.head.startswith(heads)


def _holds(pattern: bytes) -> Callable[[Sample], bool]:
    """Files with a pattern within their first bytes."""
    found = re.compile(pattern, re.MULTILINE)
    return lambda sample: found.search(sample.head[:4096]) is not None


def _named(*ends: str) -> Callable[[Sample], bool]:
    return lambda sample: sample.path.name.endswith(ends)


def _is_pickle_with(*words: bytes) -> Callable[[Sample], bool]:
    return lambda sample: sample.head.startswith(b"\x80") and all(word in sample.head for word in words)


_KNOWN = (
    _Known(
        _named(".nsys-rep", ".qdrep"), "a report of Nsight Systems: make `nsys export --type sqlite FILE` of it first"
    ),
    _Known(
        _named(".ncu-rep"), "a report of Nsight Compute on single kernels, which only its own viewer (`ncu -i`) reads"
    ),
    _Known(
        lambda sample: ".tfevents." in sample.path.name,
        "TensorBoard's scalars: the profile is below plugins/profile, in *.xplane.pb",
    ),
    _Known(
        _named(".overview_page.pb", ".input_pipeline.pb", ".op_stats.pb", ".kernel_stats.pb", ".tensorflow_stats.pb"),
        "a table that TensorBoard made of a profile: import the .xplane.pb beside it",
    ),
    _Known(
        _named(".memory_profile.json.gz", ".memory_profile.json"),
        "a table that TensorBoard made of a profile: import the .xplane.pb beside it",
    ),
    _Known(_begins(b"PERFILE2"), "samples of Linux perf, of native code: `perf report` shows them"),
    _Known(
        _holds(rb"^\S[^\n:]* +\d+(?:/\d+)? +(?:\[\d+\] +)?\d+\.\d{6,9}: +(?:\d+ +)?[\w-]+(?::\w+)*: *$"),
        "what `perf script` prints, samples of native code: `perf report` shows them; folded stacks made of it "
        "(`stackcollapse-perf.pl`) are read",
    ),
    _Known(
        _holds(rb"\A(?:\x04\"M\x18.{1,24})?memray"),
        "a capture of memray, without times of work: `memray stats FILE` and `memray flamegraph FILE` show it",
    ),
    _Known(
        _holds(rb"<svg"),
        "a picture (SVG): of a flame graph the samples are what can be read, `py-spy record -f speedscope`",
    ),
    _Known(
        _holds(rb"(?i:\A\s*<!doctype html|\A\s*<html)"),
        "a web page: import what it was made of, such as the samples (`py-spy record -f speedscope`)",
    ),
    _Known(
        _holds(rb'"(?:root_frame|target_description|frame_records|start_call_stack)"\s*:'),
        "a session of pyinstrument: `pyinstrument --load FILE -r speedscope` makes one that is read",
    ),
    _Known(
        _holds(rb"_/_/ /_/|/_//_/// /_"),
        "what pyinstrument prints: `pyinstrument -r speedscope -o FILE` writes one that is read",
    ),
    _Known(
        _holds(rb'"(?:alloc_samples|elapsed_time_sec|growth_rate|max_footprint_mb)"\s*:'),
        "a profile of Scalene, of shares and no times: `scalene view` shows it",
    ),
    _Known(
        _holds(rb"^(?:# callgrind format|creator: |events: )"),
        "a profile for KCachegrind (callgrind), of which nothing is read; the file of cProfile (`-o FILE`) is",
    ),
    _Known(
        _holds(rb"\A *\d+ function calls|^ +ncalls +tottime"),
        "what cProfile prints: import the file that `python -m cProfile -o FILE` writes",
    ),
    _Known(
        _holds(rb"Self (?:CPU|CUDA) %"), "a table that torch.profiler printed: import what `export_chrome_trace` writes"
    ),
    _Known(
        _holds(rb"\A\s*Profile Statistics"),
        "a table that MXNet's profiler printed: import the JSON that `profiler.dump()` writes",
    ),
    _Known(
        _holds(rb"\A\[\[-?\d+, ?-?\d+,"),
        "numbers without names, as `export_memory_timeline` of torch.profiler writes; `export_chrome_trace` has names",
    ),
    _Known(
        _holds(rb"Total Time \(ns\)"),
        "a table that `nsys stats` printed: import what `nsys export --type sqlite` writes",
    ),
    _Known(
        _holds(rb"^\| NVIDIA-SMI "),
        "what nvidia-smi prints at one moment: what it prints with `--query-gpu=... --format=csv -l 1` is read",
    ),
    _Known(
        _holds(rb"\A(?:MOJ|# austin: )"),
        "samples of Austin: `austin2speedscope` brings them into speedscope's format, which is read",
    ),
    _Known(
        _holds(rb'\A\{"nodes":\[.*"callFrame"|\A\s*\{\s*"(?:nodes|typeId|head)"[^;]*"(?:callFrame|functionName)"'),
        "a profile of a JavaScript engine (.cpuprofile)",
    ),
    _Known(
        _holds(rb"\A[\s\S]{0,32}?\x0a\x04\x08[\x01-\x10]\x10[\x01-\x10]\x0a\x04\x08"),
        "a profile of pprof, such as what JAX writes of a device's memory: `pprof -top FILE` shows it",
    ),
    _Known(
        _is_pickle_with(b"segments", b"device_traces"),
        "a snapshot of CUDA memory of PyTorch: https://pytorch.org/memory_viz shows it",
    ),
    _Known(
        _begins(b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
        "a pickle: only those of line_profiler are opened, for others may run code",
    ),
)
"""The first that fits counts."""


def told(sample: Sample) -> str | None:
    """What a file is that no reader claims, and what to do; None: that is not known."""
    return next((known.told for known in _KNOWN if known.is_one(sample)), None)
