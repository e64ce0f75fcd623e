"""What reading may take of the machine."""

from __future__ import annotations

import gzip
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from dlprof.errors import ExitCode
from dlprof.ingest import limits
from dlprof.ingest.formats import registry
from dlprof.ingest.limits import Budget, LimitError, Limits
from tests.unit.ingest.protobuf import field

SMALL = Limits.of_memory(64 << 20)


def account() -> Budget:
    """What 64 MiB allow."""
    return Budget(SMALL, Path("a.json"))


def test_all_limits_follow_from_the_memory() -> None:
    """Twice as much of it allows twice as much of everything that grows with a file."""
    assert (
        Limits(
            memory_bytes=67_108_864,
            unpacked_bytes=536_870_912,
            whole_bytes=8_388_608,
            piece_bytes=4_194_304,
            rows=2_097_152,
            names=131_072,
            lanes=2_048,
            depth=10_000,
            text_bytes=1_048_576,
        )
        == SMALL
    )


def test_the_default_is_a_quarter_of_the_machines_memory_and_four_gib_at_most() -> None:
    """Never less than the libraries need."""
    assert limits.LEAST_BYTES <= limits.default().memory_bytes <= 4 << 30


@pytest.mark.parametrize(
    ("take", "said"),
    [
        (lambda a: a.hold(65 << 20, "rows"), "it holds more rows than fit into memory"),
        (lambda a: a.rows(2_097_153), "more than 2,097,152 events"),
        (lambda a: a.name("x" * 1_048_577), "a name of more than 1 MB"),
        (lambda a: [a.name(str(n)) for n in range(131_073)], "more than 131,072 distinct names"),
        (lambda a: [a.lane() for _ in range(2_049)], "more than 2,048 threads and streams"),
    ],
)
def test_the_error_names_the_file_the_limit_and_the_option(take: Callable[[Budget], object], said: str) -> None:
    """And what to do about it."""
    with pytest.raises(LimitError) as caught:
        take(account())

    assert caught.value.message == f"a.json: {said}: --max-memory is 64 MiB"
    assert (
        caught.value.hint
        == "if you trust the file, and there is the memory: --max-memory SIZE, or max-memory in the settings"
    )
    assert caught.value.exit_code == ExitCode.BAD_DATA


def test_what_is_given_back_may_be_taken_again() -> None:
    """Begins that found their ends."""
    one = account()

    for _ in range(3):
        one.hold(60 << 20, "begins")
        one.hold(-(60 << 20), "begins")

    one.hold(1, "begins")


def test_several_files_of_an_import_share_one_account() -> None:
    """Each names itself."""
    with limits.applied(SMALL, Path("first")) as whole:
        with limits.reading(Path("a")) as a:
            a.hold(40 << 20, "rows")
        with limits.reading(Path("b")) as b, pytest.raises(LimitError, match="b: it holds more rows"):
            b.hold(40 << 20, "rows")
    assert a is b is whole


def test_memory_that_does_not_suffice_is_the_error_of_a_limit() -> None:
    """Wherever it was asked for."""

    def asked() -> None:
        with limits.applied(SMALL, Path("a")):
            raise MemoryError

    with pytest.raises(LimitError, match="a: it does not fit into memory: --max-memory is 64 MiB"):
        asked()


def test_the_wall_stands_only_inside() -> None:
    """The limit of the process is what it was, afterwards."""
    before = resource.getrlimit(resource.RLIMIT_DATA)

    with limits.walled(Limits.of_memory(64 << 30)):
        inside = resource.getrlimit(resource.RLIMIT_DATA)

    assert (inside[0] > 64 << 30, resource.getrlimit(resource.RLIMIT_DATA)) == (True, before)


def _packed(head: bytes, unit: bytes, tail: bytes = b"") -> bytes:
    """8 MB of the same, packed."""
    return gzip.compress(head + unit * ((8 << 20) // len(unit)) + tail, 6, mtime=0)


PLANE = field(1, field(2, b"/host:CPU"))
BOMBS: dict[str, tuple[str, bytes]] = {
    "planes": ("more than 2,048 threads and streams", _packed(PLANE, b"\x0a\x00")),
    "lines": ("more than 2,048 threads and streams", gzip.compress(field(1, field(2, b"/host:CPU") + b"\x1a\x00" * 9999))),
    "top": ("no format that dlprof knows", _packed(b'{"schemaVersion":1,"x":[1', b",[]", b"]}")),
    "begins": ("begins without an end", _packed(b'[{"ph":"B","ts":1}', b',{"ph":"B","ts":1}', b"]")),
    "openvino": ("decoded at once", _packed(b'{"format": "dlprof.openvino/1","owner":{},"calls":[[0,1,[]]', b",[0,1,[]]", b"]}")),
    "pickle": ("a pickle of more than 4 MiB", _packed(b"\x80\x04\x8c\x09LineStats", b"}", b".")),
    "raw": ("it holds more distinct stacks", gzip.compress(b"".join(b"a%d (b.py:1) 1\n" % n for n in range(250_000)))),
    "rows": (
        "it holds more rows than fit",
        _packed(b"timestamp, index, utilization.gpu [%]\n", b"2024/01/01 00:00:00.000, 0, 1 %\n"),
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_that_unpacks_to_much_is_refused_in_the_memory_that_it_may_have(tmp_path: Path, name: str) -> None:
    """Measured as the largest resident set of a child; libraries alone take about 130 MB."""
    said, content = BOMBS[name]
    path = tmp_path / ("bomb.xplane.pb" if name in ("planes", "lines") else "bomb")
    path.write_bytes(content)
    # Not `ru_maxrss`: a child begins with that of the process that started it, and a whole run of tests is large.
    code = (
        "import pathlib; from dlprof.__main__ import main\n"
        "exit_code, status = main(), pathlib.Path('/proc/self/status').read_text()\n"
        "print(exit_code, int(status.split('VmHWM:')[1].split()[0]) >> 10)"
    )
    words = ["import", str(path), "--max-memory", "64MB", "-o", str(tmp_path / "run")]
    found = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)

    # How much of 64 MB the libraries leave differs with the machine: the limit behind all others may be reached first.
    assert said in found.stderr or "it does not fit into memory: --max-memory is 64 MiB" in found.stderr
    exit_code, peak_mb = map(int, found.stdout.split())
    assert exit_code == ExitCode.BAD_DATA
    assert peak_mb < 330
    assert not (tmp_path / "run").exists()


def test_many_processes_and_threads_cost_no_product_of_both(tmp_path: Path) -> None:
    """20,000 events, each of a process and a thread of its own: a table of all pairs would take gigabytes."""
    events = [{"ph": "X", "cat": "cpu_op", "name": "a", "ts": n, "dur": 1, "pid": n, "tid": n} for n in range(20_000)]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))

    content = registry.read(path, registry.find(path))

    traces = [one.trace for one in (content, *content.others) if one.trace is not None]
    assert (sum(trace.size for trace in traces), len(traces[0].lanes)) == (20_000, 20_000)


def test_where_the_machine_tells_no_memory_the_default_is_what_it_is_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """As without `/proc` and control groups."""

    def missing() -> None:
        raise FileNotFoundError

    monkeypatch.setattr(psutil, "virtual_memory", missing)
    monkeypatch.setattr(limits, "_of_group", lambda: 1 << 62)

    assert limits.default.__wrapped__().memory_bytes == 4 << 30
