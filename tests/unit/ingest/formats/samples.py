"""Small files of several formats: what their makers wrote, as text here or from `tests/data/traces`."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

from dlprof.ingest.formats import line_profiler, nvidia_smi, nvprof_text, pyspy, theano_profile
from dlprof.ingest.formats.base import FileContent, Reader
from dlprof.ingest.kernels.trace import Trace
from tests.unit.ingest.imports import DATA

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


def put(folder: Path, content: str | bytes, name: str = "file") -> Path:
    """A file with this content."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def trace_of(content: FileContent) -> Trace:
    """The trace, which there must be."""
    assert content.trace is not None
    return content.trace


SAMPLES: dict[str, tuple[Reader, Callable[[], bytes]]] = {
    "nvprof gpu trace": (nvprof_text.READER, lambda: gzip.decompress((DATA / "nvprof_gpu_trace.csv.gz").read_bytes())),
    "nvprof csv": (nvprof_text.READER, (DATA / "nvprof_summary.csv").read_bytes),
    "nvprof text": (nvprof_text.READER, (DATA / "nvprof_summary.txt").read_bytes),
    "nvprof live": (nvprof_text.READER, LIVE_CSV.encode),
    "nvprof old": (nvprof_text.READER, OLD_TEXT.encode),
    "theano": (theano_profile.READER, (DATA / "theano_two_functions.txt").read_bytes),
    "theano gpu": (theano_profile.READER, (DATA / "theano_gpu.txt").read_bytes),
    "lprof": (line_profiler.READER, (DATA / "line_profiler.lprof").read_bytes),
    "lines": (line_profiler.READER, (DATA / "line_profiler.txt").read_bytes),
    "lines with source": (line_profiler.READER, LINES.encode),
    "nvidia-smi": (nvidia_smi.READER, (DATA / "nvidia_smi.csv").read_bytes),
    "speedscope": (pyspy.READER, lambda: gzip.decompress((DATA / "pyspy.speedscope.json.gz").read_bytes())),
    "raw": (pyspy.READER, RAW.encode),
    "chrometrace": (pyspy.READER, CHROME.encode),
}
