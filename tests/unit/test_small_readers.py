"""Readers of small foreign files: figures known from elsewhere, what they refuse, and damaged files."""

from __future__ import annotations

import gzip
import pickle
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats import line_profiler as line_profiler_files
from dlprof.ingest.formats import nvidia_smi, nvprof_text, theano_profile
from dlprof.ingest.formats import pyspy as pyspy_files
from dlprof.ingest.formats import registry as formats
from dlprof.ingest.kernels.trace import Foreign, Kind, Lane, Trace

DATA = Path(__file__).parent.parent / "data" / "traces"
MODULES = (nvprof_text, theano_profile, line_profiler_files, nvidia_smi, pyspy_files)

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


def trace_of(foreign: Foreign) -> Trace:
    """The trace, which there must be."""
    assert foreign.trace is not None
    return foreign.trace


def totals(foreign: Foreign) -> list[tuple[str, Kind, int, int, int]]:
    """Sums: name, kind, count, total, device."""
    rows = trace_of(foreign).programs["aggregates"]
    return [(row["name"], row["kind"], row["count"], row["total_ns"], row["device"]) for row in rows]


SAMPLES: dict[str, tuple[ModuleType, Callable[[], bytes]]] = {
    "nvprof gpu trace": (nvprof_text, lambda: gzip.decompress((DATA / "nvprof_gpu_trace.csv.gz").read_bytes())),
    "nvprof csv": (nvprof_text, (DATA / "nvprof_summary.csv").read_bytes),
    "nvprof text": (nvprof_text, (DATA / "nvprof_summary.txt").read_bytes),
    "nvprof live": (nvprof_text, LIVE_CSV.encode),
    "nvprof old": (nvprof_text, OLD_TEXT.encode),
    "theano": (theano_profile, (DATA / "theano_two_functions.txt").read_bytes),
    "theano gpu": (theano_profile, (DATA / "theano_gpu.txt").read_bytes),
    "lprof": (line_profiler_files, (DATA / "line_profiler.lprof").read_bytes),
    "lines": (line_profiler_files, (DATA / "line_profiler.txt").read_bytes),
    "lines with source": (line_profiler_files, LINES.encode),
    "nvidia-smi": (nvidia_smi, (DATA / "nvidia_smi.csv").read_bytes),
    "speedscope": (pyspy_files, lambda: gzip.decompress((DATA / "pyspy.speedscope.json.gz").read_bytes())),
    "raw": (pyspy_files, RAW.encode),
    "chrometrace": (pyspy_files, CHROME.encode),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_is_claimed_by_its_own_reader_alone(name: str, tmp_path: Path) -> None:
    """Of the small readers, one claims each file."""
    module, content = SAMPLES[name]
    sample = formats.sample(put(tmp_path, content()))

    assert [m.__name__ for m in MODULES if m.claims(sample)] == [module.__name__]


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
    """Other Chrome traces, tables, folded stacks and noise are left to other readers, and quickly."""
    sample = formats.sample(put(tmp_path, content))

    assert not any(module.claims(sample) for module in MODULES)


def test_the_gpu_trace_gives_kernels_and_copies_to_the_nanosecond() -> None:
    """The figures are those of nvprof's database of the same run."""
    foreign = nvprof_text.read(DATA / "nvprof_gpu_trace.csv.gz")
    trace = trace_of(foreign)

    columns = trace.columns()
    names = [trace.names[number] for number in columns["name"]]
    kernels = columns["kind"] == Kind.KERNEL
    busy: Counter[str] = Counter()
    for name, dur in zip(names, columns["dur"].tolist()):
        busy[name] += dur
    assert (int(kernels.sum()), int((columns["kind"] == Kind.TRANSFER).sum())) == (284, 47)
    assert (names.count("[CUDA memcpy DtoH]"), names.count("[CUDA memset]")) == (35, 12)
    assert int(columns["dur"][kernels].sum()) == 8_270_633
    assert busy.most_common(1) == [("volta_sgemm_32x128_nn", 1_327_075)]
    assert columns["start"][:3].tolist() == [0, 496_149, 965_643]
    assert columns["link"][3] == 4400
    assert trace.lanes == [Lane(0, 7, "stream 7", 0)]
    assert (foreign.format, trace.engine, trace.aggregated, trace.zero_ns) == ("nvprof-csv", "cuda", False, None)
    assert foreign.facts["devices"] == [{"device": 0, "name": "Tesla V100-SXM2-16GB"}]


def test_sizes_of_copies_are_of_1024_bytes_to_the_kilobyte() -> None:
    """35 copies move 156 bytes, and the largest memset 93178400: as in the database of the same run."""
    trace = trace_of(nvprof_text.read(DATA / "nvprof_gpu_trace.csv.gz"))

    columns = trace.columns()
    moved = {"[CUDA memcpy DtoH]": [0], "[CUDA memset]": [0]}
    for name, scope in zip(columns["name"], columns["scope"]):
        if scope >= 0:
            moved[trace.names[name]].append(int(trace.scopes[scope].removeprefix("bytes=")))
    assert (sum(moved["[CUDA memcpy DtoH]"]), max(moved["[CUDA memset]"])) == (156, 93_178_400)


def test_the_csv_summary_is_read_without_its_ranges() -> None:
    """44 rows of the GPU and 11 of the API; what the NVTX sections repeat is not added."""
    foreign = nvprof_text.read(DATA / "nvprof_summary.csv")

    assert foreign.facts == {
        "gpu_activity_rows": 44, "gpu_calls": 331, "gpu_kernel_calls": 284, "gpu_time_ns": 8_348_840,
        "api_call_rows": 11,
    }  # fmt: skip
    rows = totals(foreign)
    assert rows[0] == ("volta_sgemm_32x128_nn", Kind.KERNEL, 1, 1_327_075, 0)
    assert rows[44] == ("cudaLaunchKernel", Kind.RUNTIME, 284, 2_348_514_103, -1)
    assert trace_of(foreign).aggregated


def test_the_text_summary_is_read_without_its_ranges() -> None:
    """The same rows as in CSV, in the five digits of the text, which the user is told."""
    foreign = nvprof_text.read(DATA / "nvprof_summary.txt")

    assert foreign.facts == {
        "gpu_activity_rows": 44, "gpu_calls": 331, "gpu_kernel_calls": 284, "gpu_time_ns": 8_348_832,
        "api_call_rows": 11,
    }  # fmt: skip
    rows = totals(foreign)
    assert rows[0] == ("volta_sgemm_32x128_nn", Kind.KERNEL, 1, 1_327_100, 0)
    assert rows[44] == ("cudaLaunchKernel", Kind.RUNTIME, 284, 2_348_510_000, -1)
    assert (foreign.format, [entry.slug for entry in foreign.health]) == ("nvprof-text", ["times-rounded"])


def test_a_live_file_of_nvprof_may_have_other_lines_before_its_table(tmp_path: Path) -> None:
    """The program's words are passed over; without a column for it, the correlation stands behind the name."""
    foreign = nvprof_text.read(put(tmp_path, LIVE_CSV))
    trace = trace_of(foreign)

    columns = trace.columns()
    assert trace.names.texts == ["axpy(int, float*)", "[CUDA memcpy HtoD]"]
    assert columns["start"].tolist() == [1_500_000_000, 1_500_010_000]
    assert columns["dur"].tolist() == [2_016, 1_000]
    assert columns["link"].tolist() == [95, 97]
    assert trace.lanes == [Lane(0, 13, "stream 13", 1), Lane(0, 7, "stream 7", 1)]
    assert trace.scopes.texts == ["bytes=4096"]
    assert [entry.slug for entry in foreign.health] == ["times-rounded"]


def test_old_nvprof_has_its_api_calls_under_a_heading_of_their_own(tmp_path: Path) -> None:
    """Before CUDA 9 no column says what a row is."""
    assert totals(nvprof_text.read(put(tmp_path, OLD_TEXT))) == [
        ("axpy(int, float*)", Kind.KERNEL, 3, 3_000_000, 0),
        ("[CUDA memset]", Kind.TRANSFER, 1, 1_000_000, 0),
        ("cudaLaunch", Kind.RUNTIME, 4, 2_500_000_000, -1),
    ]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("2.016000", "nan", "line 7: 'nan' is not a number"),
        ("2.016000", "-2.016", "line 7: '-2.016' is not a number"),
        ("1.500000", "9e99", "line 7: 9E\\+99 is out of range"),
        ("s,us,KB,,,,", "s,weeks,KB,,,,", "line 6: the row of units says 'weeks' for Duration"),
        (',"axpy(int, float*) [95]"', "", "line 7: 6 columns instead of 7"),
        ("Start", "Begin", "there is no table"),
    ],
)
def test_a_damaged_table_of_nvprof_is_refused_with_its_line(old: str, new: str, words: str, tmp_path: Path) -> None:
    """Numbers that are none, or that no run has, and rows that are cut."""
    path = put(tmp_path, LIVE_CSV.replace(old, new))

    with pytest.raises(ArtifactError, match=words):
        nvprof_text.read(path)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("theano_example.txt", [("None", 1, 5.698204e-05, 6.198883e-06, 1, 2, "Elemwise{add,no_inplace}", 2)]),
        (
            "theano_two_functions.txt",
            [
                ("train", 10_000, 7.171231, 6.511275, 6, 16, "CGemv{inplace}", 20_000),
                ("predict", 1, 0.0004870892, 0.0004491806, 5, 5, "CGemv{inplace}", 1),
                ("Sum of all printed profiles at exit", 10_001, 7.171718, 6.511724, 0, 0, None, None),
            ],
        ),
        ("theano_gpu.txt", [("train.py:47", 1, 0.005981922, 0.004213095, 9, 17, "dot", 2)]),
    ],
)
def test_what_theano_says_of_its_functions_is_read_as_printed(file: str, expected: list[Any]) -> None:
    """Calls, times and tables of each function."""
    names = ("message", "calls", "call_time_s", "thunk_time_s", "class_rows", "op_rows", "top_op", "top_op_calls")

    functions = theano_profile.read(DATA / file).facts["functions"]

    assert [tuple(function[name] for name in names) for function in functions] == expected


def test_times_of_operators_of_theano_are_taken_from_the_figure_with_the_least_error() -> None:
    """5.665 s is better than 20000 times 2.83e-04 s, but 0.000 s is not better than any."""
    foreign = theano_profile.read(DATA / "theano_two_functions.txt")

    rows = trace_of(foreign).programs["aggregates"]
    assert [(row["function"], row["name"], row["total_ns"]) for row in rows if "CGemv" in row["name"]] == [
        ("train", "CGemv{inplace}", 5_665_000_000),
        ("predict", "CGemv{inplace}", 423_128),
    ]
    assert len(rows) == 21
    assert (rows[0]["kind"], rows[0]["device"], rows[0]["count"]) == (Kind.OPERATOR, -1, 20_000)


def test_loops_of_theano_are_not_counted_twice(tmp_path: Path) -> None:
    """The operators inside a Scan are part of its own time; what is passed over or missing is said."""
    foreign = theano_profile.read(put(tmp_path, THEANO_HEAD + THEANO_LOOP))

    assert [row[0] for row in totals(foreign)] == ["dot"]
    assert [(entry.slug, entry.count) for entry in foreign.health] == [
        ("times-rounded", None), ("theano-rows-left-out", 4), ("theano-loops-passed-over", 1),
    ]  # fmt: skip


def test_a_sum_of_theano_counts_where_there_is_nothing_else(tmp_path: Path) -> None:
    """A file that was cut down to its last block still gives its operators."""
    text = THEANO_HEAD.replace("Message: f", "Message: Sum of all(2) printed profiles at exit")

    assert totals(theano_profile.read(put(tmp_path, text))) == [("dot", Kind.OPERATOR, 2, 90_000_000, -1)]
    both = theano_profile.read(put(tmp_path, THEANO_HEAD + text))
    assert len(totals(both)) == 1


def test_a_pickle_of_line_profiler_gives_its_lines() -> None:
    """Hits and times are those of the file; functions begin where it says."""
    foreign = line_profiler_files.read(DATA / "line_profiler.lprof")

    rows = foreign.tables["lines"].to_pylist()
    hits: Counter[tuple[str, int]] = Counter()
    for row in rows:
        hits[row["function"], row["first_line"]] += row["hits"]
    assert foreign.facts["unit_s"] == 3.6467216519357346e-07
    assert [round(total, 6) for total in foreign.facts["total_times_s"]] == [29.110249, 21.73422, 96.768818]
    assert hits == {("update", 34): 14_782, ("forward", 61): 127_744, ("main", 238): 30_864}
    hottest = max(rows, key=lambda row: row["time_ns"])
    assert (hottest["line"], hottest["hits"], hottest["time_ns"]) == (330, 2048, 51_321_639_756)


def test_the_text_of_line_profiler_without_sources_gives_the_same_hits() -> None:
    """Functions that the text does not name are numbered; lines that never ran have 0 hits."""
    foreign = line_profiler_files.read(DATA / "line_profiler.txt")

    rows = foreign.tables["lines"].to_pylist()
    hits: Counter[tuple[str, int]] = Counter()
    for row in rows:
        hits[row["function"], row["first_line"]] += row["hits"]
    assert foreign.facts == {"functions": 3, "unit_s": 3.64672e-07, "total_times_s": [29.1102, 21.7342, 96.7688]}
    assert hits == {("function 1", 34): 14_782, ("function 2", 61): 127_744, ("function 3", 238): 30_864}
    assert {row["source"] for row in rows} == {None}


def test_the_text_of_line_profiler_with_sources_gives_names_and_sources(tmp_path: Path) -> None:
    """File, function and code, also where the code looks like a number."""
    foreign = line_profiler_files.read(put(tmp_path, LINES))

    rows = foreign.tables["lines"].to_pylist()
    assert [(row["file"], row["function"], row["first_line"]) for row in rows] == [("slow.py", "slow", 3)] * 4
    assert [(row["line"], row["hits"], row["time_ns"], row["source"]) for row in rows] == [
        (3, 0, 0, "@profile"),
        (4, 0, 0, "def slow(n):"),
        (5, 11, 250_000_000, "    for i in range(n):"),
        (6, 10, 250_000_000, "        12 + 3"),
    ]


class Harmful:
    """Runs a program when it is unpickled blindly."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return subprocess.call, (["touch", str(self.mark)],)


def nested() -> bytes:
    """A pickle whose key is so deep that its hash would overflow the stack."""
    return b"\x80\x04c_line_profiler\nLineStats\n)\x81}(" + b"K\x01" + b"\x85" * 500_000 + b"K\x02ub."


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x80\x04cos\nsystem\n.", "it asks for os.system"),
        (b"\x80\x04c_line_profiler\nLineStats\nr\xff\xff\xff\x7f.", "memo 2147483647"),
        (b"\x80\x04c_line_profiler\nLineStats\n)R.", "REDUCE has no place"),
        (nested(), "a tuple of something other"),
        (pickle.dumps({"LineStats": 1}), "not a pickle of LineStats"),
    ],
)
def test_pickles_of_other_things_are_refused(content: bytes, words: str, tmp_path: Path) -> None:
    """Other classes, calls, and pickles made to exhaust memory or stack."""
    with pytest.raises(ArtifactError, match=words):
        line_profiler_files.read(put(tmp_path, content))


def test_nothing_in_a_pickle_is_run(tmp_path: Path) -> None:
    """A harmful pickle that looks like line_profiler's is refused before it does anything."""
    mark = tmp_path / "mark"
    path = put(tmp_path, pickle.dumps({"LineStats": Harmful(mark)}))

    with pytest.raises(ArtifactError):
        line_profiler_files.read(path)
    assert not mark.exists()


def test_the_log_of_nvidia_smi_gives_the_table_gpu() -> None:
    """Rows, utilisation and memory are those of the file; local time is taken as UTC, and that is said."""
    foreign = nvidia_smi.read(DATA / "nvidia_smi.csv")

    table = foreign.tables["gpu"]
    used = np.asarray(table["utilisation_pct"])
    assert foreign.facts == {"gpus": [{"gpu": 0, "name": "Tesla V100S-PCIE-32GB"}], "rows": 107}
    assert (table.num_rows, used.max(), round(float(used.mean()), 4), int((used > 0).sum())) == (107, 19.0, 3.6729, 54)
    assert max(table["memory_used_bytes"].to_pylist()) == 1094 << 20
    assert table["time_ns"].to_pylist()[-1] == 106_053_000_000
    assert foreign.zero_ns == 1_749_774_472_195_000_000
    assert [(entry.slug, entry.severity) for entry in foreign.health] == [("clock-local-time", "info")]


def test_what_nvidia_smi_could_not_measure_is_null(tmp_path: Path) -> None:
    """Two GPUs; unknown columns are passed over, and what was not asked for is null too."""
    rows = nvidia_smi.read(put(tmp_path, SMI)).tables["gpu"].to_pylist()

    names = ("time_ns", "gpu", "utilisation_pct", "memory_used_bytes", "power_w", "sm_clock_mhz", "temperature_c")
    assert [tuple(row[name] for name in names) for row in rows] == [
        (0, 0, 5.0, 10 << 20, 25.5, 1290.0, None),
        (0, 1, None, None, None, 1300.0, None),
        (1_500_000_000, 0, 7.0, 12 << 20, 26.0, 1290.0, None),
    ]


def test_a_log_that_was_stopped_in_a_row_is_read_up_to_it(tmp_path: Path) -> None:
    """nvidia-smi is ended by a signal; a row that is cut anywhere else is damage."""
    foreign = nvidia_smi.read(put(tmp_path, SMI + "2025/01/01 00:00:02.0"))

    assert (foreign.facts["rows"], [entry.slug for entry in foreign.health][1:]) == (3, ["row-cut"])
    with pytest.raises(ArtifactError, match="line 5: 1 columns instead of 7"):
        nvidia_smi.read(put(tmp_path, SMI + "2025/01/01 00:00:02.0\n\n" + SMI))


def test_a_log_without_a_header_is_refused_with_what_to_do(tmp_path: Path) -> None:
    """Without the header nobody knows which column is which."""
    path = put(tmp_path, "".join(SMI.splitlines(keepends=True)[1:]))

    assert nvidia_smi.claims(formats.sample(path))
    with pytest.raises(ArtifactError, match="the header row is needed"):
        nvidia_smi.read(path)


def test_speedscope_files_give_merged_stacks_of_each_thread() -> None:
    """Each thread's samples lie one after the other from 0, and sum to what the file says."""
    foreign = pyspy_files.read(DATA / "pyspy.speedscope.json.gz")

    rows = foreign.tables["stacks"].to_pylist()
    leaves = {frame["stack_id"]: (frame["function"], frame["line"]) for frame in foreign.tables["frames"].to_pylist()}
    per_thread: Counter[tuple[int, str]] = Counter()
    per_leaf: Counter[tuple[str, int]] = Counter()
    for row in rows:
        assert row["start_ns"] >= per_thread[row["thread_id"], row["thread"]]
        per_thread[row["thread_id"], row["thread"]] += row["dur_ns"]
        per_leaf[leaves[row["stack_id"]]] += row["dur_ns"]
    assert per_thread == {
        (0x16DF7B000, "Thread-1 (_handle_workers)"): 20_000_000,
        (0x16EF87000, "Thread-2 (_handle_tasks)"): 31_860_000_000,
        (0x16FF93000, "Thread-3 (_handle_results)"): 31_860_000_000,
        (0x1FA08F100, "MainThread"): 38_070_000_000,
    }
    assert per_leaf["join", 1095] == 31_860_000_000
    assert (foreign.facts["exporter"], foreign.facts["samples"], len(rows)) == ("py-spy@0.4.2", 10_181, 446)


def test_raw_files_of_py_spy_are_laid_out_at_100_samples_a_second(tmp_path: Path) -> None:
    """Counts become times, thread by thread, which the user is told; command lines may span lines."""
    foreign = pyspy_files.read(put(tmp_path, RAW))

    names = ("thread_id", "thread", "start_ns", "dur_ns", "stack_id")
    assert [tuple(row[name] for name in names) for row in foreign.tables["stacks"].to_pylist()] == [
        (9, "MainThread", 0, 30_000_000, 0),
        (8, "worker", 0, 20_000_000, 1),
        (8, "worker", 20_000_000, 10_000_000, 2),
    ]
    frames = [tuple(row.values()) for row in foreign.tables["frames"].to_pylist()]
    assert frames[:3] == [(0, 0, "<module>", "<string>", 3), (0, 1, "run", "<string>", 2), (1, 0, "work", "a.py", 4)]
    assert (foreign.facts["samples"], [entry.slug for entry in foreign.health]) == (6, ["stacks-without-time"])


def test_chrometraces_of_py_spy_keep_their_times_and_file_names(tmp_path: Path) -> None:
    """A stack stands until an event changes it."""
    foreign = pyspy_files.read(put(tmp_path, gzip.compress(CHROME.encode())))

    names = ("thread_id", "thread", "start_ns", "dur_ns", "stack_id")
    assert [tuple(row[name] for name in names) for row in foreign.tables["stacks"].to_pylist()] == [
        (8, "worker", 100_000, 200_000, 0),
        (8, "worker", 300_000, 150_000, 1),
        (8, "worker", 450_000, 50_000, 0),
    ]
    assert {row["file"] for row in foreign.tables["frames"].to_pylist()} == {"/x/a.py"}


@pytest.mark.parametrize(
    "text",
    [
        "thread (9);run (a.py:2) 3\nthread (8);work (a.py:4) 2\n",
        CHROME.replace(": worker", "").replace("[", '[{"args":{"filename":"","line":0},"cat":"py-spy","name":"thread (9)",'
        '"ph":"B","pid":7,"tid":0,"ts":1},{"args":{"filename":"/x/a.py","line":2},"cat":"py-spy","name":"run","ph":"B",'
        '"pid":7,"tid":0,"ts":1},{"args":{"filename":"/x/a.py","line":2},"cat":"py-spy","name":"run","ph":"E",'
        '"pid":7,"tid":0,"ts":9},', 1),
    ],
    ids=["raw", "chrometrace"],
)  # fmt: skip
def test_of_threads_without_names_the_first_is_the_main_one(text: str, tmp_path: Path) -> None:
    """Engines call Python from threads that Python did not start."""
    rows = pyspy_files.read(put(tmp_path, text)).tables["stacks"].to_pylist()

    assert {(row["thread_id"], row["thread"]) for row in rows} == {(9, "MainThread"), (8, "thread 8")}


@pytest.mark.parametrize("name", ["nvprof_gpu_trace.csv.gz", "pyspy.speedscope.json.gz"])
def test_a_packed_file_that_is_cut_is_refused(name: str, tmp_path: Path) -> None:
    """Half of a gzip file is damage."""
    content = (DATA / name).read_bytes()
    module = nvprof_text if "nvprof" in name else pyspy_files

    with pytest.raises(ArtifactError):
        module.read(put(tmp_path, content[: len(content) // 2]))


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
    min_size=1, max_size=4,
)  # fmt: skip


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
    module, content = SAMPLES[name]
    path = put(tmp_path, damaged(content(), edits))

    module.claims(formats.Sample(path, path.read_bytes()))
    try:
        module.read(path)
    except ArtifactError:
        pass
