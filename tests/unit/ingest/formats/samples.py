"""Small files of several formats: what their makers wrote, as text here or from `tests/data/traces`."""

from __future__ import annotations

import gzip
import marshal
from collections.abc import Callable
from pathlib import Path

from dlprof.ingest.formats import (
    cprofile,
    horovod,
    importtime,
    line_profiler,
    nvidia_smi,
    nvprof_counters,
    nvprof_text,
    nvprof_trace_text,
    perfetto,
    pyspy,
    rocprof_csv,
    theano_profile,
    xspace,
    xspace_json,
)
from dlprof.ingest.formats.base import FileContent, Reader
from dlprof.ingest.kernels.trace import Trace
from tests.unit.ingest.imports import DATA
from tests.unit.ingest.protobuf import field, number

RAW = """\
process 7:"python a.py";process 9:"python -c import time; x = 1
while True: y = 2
run()";thread (9);<module> (<string>:3);run (<string>:2) 3
process 7:"python a.py";thread (8): worker;work (a.py:4);spin (a.py:5) 2
process 7:"python a.py";thread (8): worker;work (a.py:4) 1
"""

CHROME = (
    '[{"args":{"filename":"","line":0},"cat":"py-spy","name":"thread (8): worker","ph":"B","pid":7,"tid":1,"ts":100},'
    '{"args":{"filename":"/x/a.py","line":4},"cat":"py-spy","name":"work","ph":"B","pid":7,"tid":1,"ts":100},'
    '{"args":{"filename":"/x/a.py","line":5},"cat":"py-spy","name":"spin","ph":"B","pid":7,"tid":1,"ts":300},'
    '{"args":{"filename":"/x/a.py","line":5},"cat":"py-spy","name":"spin","ph":"E","pid":7,"tid":1,"ts":450},'
    '{"args":{"filename":"/x/a.py","line":4},"cat":"py-spy","name":"work","ph":"E","pid":7,"tid":1,"ts":500},'
    '{"args":{"filename":"","line":0},"cat":"py-spy","name":"thread (8): worker","ph":"E","pid":7,"tid":1,"ts":500}]'
)

LINES = """\
Timer unit: 1e-06 s

Total time: 0.5 s
File: slow.py
Function: slow at line 3

Line #      Hits         Time  Per Hit   % Time  Line Contents
==============================================================
     3                                           @profile
     4                                           def slow(n):
     5        11     250000.0  22727.3     50.0      for i in range(n):
     6        10     250000.0  25000.0     50.0          12 + 3

"""

LIVE_CSV = """\
epoch 1 of 3
==41== NVPROF is profiling process 41, command: python net.py
==41== Profiling application: python net.py
==41== Profiling result:
"Start","Duration","Size","Device","Context","Stream","Name"
s,us,KB,,,,
1.500000,2.016000,,"GeForce GTX 1080 (1)","1","13","axpy(int, float*) [95]"
1.500010,1.000000,4.000000,"GeForce GTX 1080 (1)","1","7","[CUDA memcpy HtoD] [97]"
"""

OLD_TEXT = """\
==9== Profiling result:
Time(%)      Time     Calls       Avg       Min       Max  Name
 75.00%  3.0000ms         3  1.0000ms  900.00us  1.2000ms  axpy(int, float*)
 25.00%  1.0000ms         1  1.0000ms  1.0000ms  1.0000ms  [CUDA memset]

==9== API calls:
Time(%)      Time     Calls       Avg       Min       Max  Name
100.00%  2.5000s         4  625.00ms  10.000us  2.4000s  cudaLaunch
"""

THEANO_HEAD = """\
Function profiling
==================
  Message: f
  Time in 2 calls to Function.__call__: 2.000000e-01s
  Time in thunks: 1.000000e-01s (50.000%)

Ops
---
<% time> <sum %> <apply time> <time per call> <type> <#call> <#apply> <Op name>
  90.0%    90.0%       0.090s       4.50e-02s     C        2        1   dot
   ... (remaining 4 Ops account for  10.00%(0.01s) of the runtime)

"""

THEANO_LOOP = """\
Scan Op profiling ( scan_fn )
==================
  Message: None
Ops
---
<% time> <sum %> <apply time> <time per call> <type> <#call> <#apply> <Op name>
 100.0%   100.0%       0.090s       4.50e-02s     C        2        1   inner
   ... (remaining 0 Ops account for   0.00%(0.00s) of the runtime)
"""

SMI = """\
timestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W], clocks.current.sm [MHz], fan.speed [%]
2025/01/01 00:00:00.000, 0, 5 %, 10 MiB, 25.50 W, 1290 MHz, 30 %
2025/01/01 00:00:00.000, 1, [N/A], [Not Supported], [N/A], 1300 MHz, 30 %
2025/01/01 00:00:01.500, 0, 7 %, 12 MiB, 26.00 W, 1290 MHz, 30 %
"""


HOROVOD = """\
[
{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "grads/dense/kernel"}},
{"name": "process_sort_index", "ph": "M", "pid": 1, "args": {"sort_index": 1}},
{"ph": "i", "name": "CYCLE_START", "ts": 90, "s": "g"},
{"ph": "B", "name": "NEGOTIATE_ALLREDUCE", "ts": 100, "pid": 1},
{"ph": "X", "name": "0", "ts": 101, "pid": 1, "dur": 0},
{"ph": "X", "name": "1", "ts": 129, "pid": 1, "dur": 0},
{"ph": "E", "ts": 130, "pid": 1},
{"ph": "B", "name": "ALLREDUCE", "ts": 140, "pid": 1},
{"ph": "B", "name": "WAIT_FOR_DATA", "ts": 140, "pid": 1},
{"ph": "E", "ts": 150, "pid": 1},
{"ph": "B", "name": "MEMCPY_IN_FUSION_BUFFER", "ts": 150, "pid": 1},
{"ph": "E", "ts": 155, "pid": 1},
{"ph": "B", "name": "NCCL_ALLREDUCE", "ts": 155, "pid": 1},
{"ph": "E", "ts": 195, "pid": 1},
{"ph": "E", "ts": 200, "pid": 1, "args": {"dtype": "float32", "shape": "[10, 10]"}},
"""
"""As `horovod/common/timeline.cc` writes it; the list is not closed while the program runs."""


def packet(*parts: bytes) -> bytes:
    """A packet of sequence 1."""
    return field(1, number(10, 1) + b"".join(parts))


def track(key: int, name: str, parent: int = 0) -> bytes:
    """A named track."""
    return packet(field(60, number(1, key) + field(2, name.encode()) + (number(5, parent) if parent else b"")))


def event(time: int, kind: int, place: int, *more: bytes) -> bytes:
    """An event: 1 is a begin, 2 an end, 3 an instant, 4 a value of a counter."""
    return packet(number(8, time), field(11, number(9, kind) + number(11, place) + b"".join(more)))


TEXTS = field(12, field(1, number(1, 5) + field(2, b"kernel_dispatch")) + field(2, number(1, 6) + field(2, b"gemm")))
PERFETTO = (
    track(7, "AGENT [2]")
    + track(8, "QUEUE [1]", 7)
    + packet(field(60, number(1, 9) + field(4, number(1, 41) + number(2, 42) + field(5, b"main"))))
    + packet(TEXTS, number(13, 1))
    + event(1000, 1, 9, field(22, b"hip_api"), field(23, b"hipLaunchKernel"))
    + event(1400, 2, 9)
    + event(1500, 1, 8, number(3, 5), number(10, 6))
    + event(1900, 2, 8)
    + event(2000, 1, 8, field(22, b"memory_copy"), field(23, b"HOST_TO_DEVICE"))
    + event(2100, 2, 8)
    + event(2200, 3, 9, field(23, b"mark"))
    + event(2300, 4, 9)
    + packet(field(1, b"\x08\x01"), field(2, b""))
)
"""Tracks and categories as rocprofv3 writes them (`generatePerfetto.cpp`)."""


def put(folder: Path, content: str | bytes, name: str = "file") -> Path:
    """A file with this content."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def trace_of(content: FileContent) -> Trace:
    """The trace, which there must be."""
    assert content.trace is not None
    return content.trace


PSTATS = {
    ("app.py", 8, "main"): (1, 1, 0.001, 0.381, {}),
    ("app.py", 2, "inner"): (11, 11, 0.18, 0.18, {("app.py", 8, "main"): (11, 11, 0.18, 0.18)}),
    ("~", 0, "<built-in method time.sleep>"): (1, 1, 0.2, 0.2, {("app.py", 8, "main"): (1, 1, 0.2, 0.2)}),
}
"""A table of cProfile: calls that are not recursive, calls, own time, time with callees, callers."""

IMPORTS = """\
starting
import time: self [us] | cumulative | imported package
import time:       200 |        200 |   zipimport
import time:      1000 |       1200 | numpy
import time:       300 |        300 | json
"""

VIEWER = (
    '{"displayTimeUnit":"ns","traceEvents":[{"ph":"M","pid":1,"name":"process_name","args":{"name":"/host:CPU"}},'
    '{"ph":"X","pid":1,"tid":1,"ts":1.5,"dur":2,"name":"dot","args":{"hlo_op":"dot","hlo_module":"jit_f"}},{}]}'
)


SAMPLES: dict[str, tuple[Reader, Callable[[], bytes]]] = {
    "nvprof gpu trace": (nvprof_text.READER, lambda: gzip.decompress((DATA / "nvprof_gpu_trace.csv.gz").read_bytes())),
    "nvprof csv": (nvprof_text.READER, (DATA / "nvprof_summary.csv").read_bytes),
    "nvprof text": (nvprof_text.READER, (DATA / "nvprof_summary.txt").read_bytes),
    "nvprof live": (nvprof_text.READER, LIVE_CSV.encode),
    "nvprof old": (nvprof_text.READER, OLD_TEXT.encode),
    "nvprof trace": (nvprof_trace_text.READER, (DATA / "nvprof_gpu_trace.txt").read_bytes),
    "nvprof counters": (nvprof_counters.READER, (DATA / "nvprof_metrics.csv").read_bytes),
    "rocprof": (rocprof_csv.READER, (DATA / "rocprof_results.csv").read_bytes),
    "horovod": (horovod.READER, HOROVOD.encode),
    "perfetto": (perfetto.READER, lambda: PERFETTO),
    "tpu": (xspace.READER, lambda: gzip.decompress((DATA / "xprof_tpu_v6e.xplane.pb.gz").read_bytes())),
    "theano": (theano_profile.READER, (DATA / "theano_two_functions.txt").read_bytes),
    "theano gpu": (theano_profile.READER, (DATA / "theano_gpu.txt").read_bytes),
    "cprofile": (cprofile.READER, lambda: marshal.dumps(PSTATS)),
    "importtime": (importtime.READER, IMPORTS.encode),
    "viewer": (xspace_json.READER, VIEWER.encode),
    "lprof": (line_profiler.READER, (DATA / "line_profiler.lprof").read_bytes),
    "lines": (line_profiler.READER, (DATA / "line_profiler.txt").read_bytes),
    "lines with source": (line_profiler.READER, LINES.encode),
    "nvidia-smi": (nvidia_smi.READER, (DATA / "nvidia_smi.csv").read_bytes),
    "speedscope": (pyspy.READER, lambda: gzip.decompress((DATA / "pyspy.speedscope.json.gz").read_bytes())),
    "raw": (pyspy.READER, RAW.encode),
    "chrometrace": (pyspy.READER, CHROME.encode),
}
