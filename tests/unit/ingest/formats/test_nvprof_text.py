"""What nvprof prints."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats import nvprof_text
from dlprof.ingest.formats.base import FileContent
from dlprof.ingest.kernels.scopes import BytesMoved
from dlprof.ingest.kernels.trace import Lane
from dlprof.schema.vocabulary import EventKind
from tests.unit.ingest.formats.samples import (
    LIVE_CSV,
    OLD_TEXT,
    put,
    trace_of,
)
from tests.unit.ingest.imports import DATA


def totals(foreign: FileContent) -> list[tuple[str, EventKind, int, int, int]]:
    """Sums: name, kind, count, total, device."""
    return [(row.name, row.kind, row.count, row.total_ns, row.device) for row in trace_of(foreign).sums or ()]


def test_the_gpu_trace_gives_kernels_and_copies_to_the_nanosecond() -> None:
    """The figures are those of nvprof's database of the same run."""
    foreign = nvprof_text.read(DATA / "nvprof_gpu_trace.csv.gz")
    trace = trace_of(foreign)

    events = trace.events.take()
    names = [trace.names[number] for number in events.name]
    kernels = events.is_kind(EventKind.KERNEL)
    busy: Counter[str] = Counter()
    for name, dur in zip(names, events.dur.tolist()):
        busy[name] += dur
    assert (int(kernels.sum()), int(events.is_kind(EventKind.TRANSFER).sum())) == (284, 47)
    assert (names.count("[CUDA memcpy DtoH]"), names.count("[CUDA memset]")) == (35, 12)
    assert int(events.dur[kernels].sum()) == 8_270_633
    assert busy.most_common(1) == [("volta_sgemm_32x128_nn", 1_327_075)]
    assert events.start[:3].tolist() == [0, 496_149, 965_643]
    assert events.link[3] == 4400
    assert trace.lanes == [Lane(0, 7, "stream 7", 0)]
    assert (foreign.format, trace.engine, trace.sums, trace.zero_ns) == ("nvprof-csv", "cuda", None, None)
    assert foreign.facts["devices"] == [{"device": 0, "name": "Tesla V100-SXM2-16GB"}]


def test_sizes_of_copies_are_of_1024_bytes_to_the_kilobyte() -> None:
    """35 copies move 156 bytes, and the largest memset 93178400: as in the database of the same run."""
    trace = trace_of(nvprof_text.read(DATA / "nvprof_gpu_trace.csv.gz"))

    events = trace.events.take()
    moved = {"[CUDA memcpy DtoH]": [0], "[CUDA memset]": [0]}
    for name, scope in zip(events.name.tolist(), events.scope.tolist()):
        carried = trace.scopes[scope] if scope >= 0 else None
        if isinstance(carried, BytesMoved):
            moved[trace.names[name]].append(carried.size)
    assert (sum(moved["[CUDA memcpy DtoH]"]), max(moved["[CUDA memset]"])) == (156, 93_178_400)


def test_the_csv_summary_is_read_without_its_ranges() -> None:
    """44 rows of the GPU and 11 of the API; what the NVTX sections repeat is not added."""
    foreign = nvprof_text.read(DATA / "nvprof_summary.csv")

    assert foreign.facts == {
        "gpu_activity_rows": 44,
        "gpu_calls": 331,
        "gpu_kernel_calls": 284,
        "gpu_time_ns": 8_348_840,
        "api_call_rows": 11,
    }
    rows = totals(foreign)
    assert rows[0] == ("volta_sgemm_32x128_nn", EventKind.KERNEL, 1, 1_327_075, 0)
    assert rows[44] == ("cudaLaunchKernel", EventKind.RUNTIME, 284, 2_348_514_103, -1)


def test_the_text_summary_is_read_without_its_ranges() -> None:
    """The same rows as in CSV, in the five digits of the text, which the user is told."""
    foreign = nvprof_text.read(DATA / "nvprof_summary.txt")

    assert foreign.facts == {
        "gpu_activity_rows": 44,
        "gpu_calls": 331,
        "gpu_kernel_calls": 284,
        "gpu_time_ns": 8_348_832,
        "api_call_rows": 11,
    }
    rows = totals(foreign)
    assert rows[0] == ("volta_sgemm_32x128_nn", EventKind.KERNEL, 1, 1_327_100, 0)
    assert rows[44] == ("cudaLaunchKernel", EventKind.RUNTIME, 284, 2_348_510_000, -1)
    assert (foreign.format, [entry.slug for entry in trace_of(foreign).health]) == ("nvprof-text", ["times-rounded"])


def test_a_live_file_of_nvprof_may_have_other_lines_before_its_table(tmp_path: Path) -> None:
    """The program's words are passed over; without a column for it, the correlation stands behind the name."""
    foreign = nvprof_text.read(put(tmp_path, LIVE_CSV))
    trace = trace_of(foreign)

    events = trace.events.take()
    assert trace.names.values == ["axpy(int, float*)", "[CUDA memcpy HtoD]"]
    assert events.start.tolist() == [1_500_000_000, 1_500_010_000]
    assert events.dur.tolist() == [2_016, 1_000]
    assert events.link.tolist() == [95, 97]
    assert trace.lanes == [Lane(0, 13, "stream 13", 1), Lane(0, 7, "stream 7", 1)]
    assert trace.scopes.values == [BytesMoved(4096)]
    assert [entry.slug for entry in trace_of(foreign).health] == ["times-rounded"]


def test_old_nvprof_has_its_api_calls_under_a_heading_of_their_own(tmp_path: Path) -> None:
    """Before CUDA 9 no column says what a row is."""
    assert totals(nvprof_text.read(put(tmp_path, OLD_TEXT))) == [
        ("axpy(int, float*)", EventKind.KERNEL, 3, 3_000_000, 0),
        ("[CUDA memset]", EventKind.TRANSFER, 1, 1_000_000, 0),
        ("cudaLaunch", EventKind.RUNTIME, 4, 2_500_000_000, -1),
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
