"""Import beside the parser alone: `python -m tests.benchmarks.parsers [--rounds N] [--kineto MB] [--xspace MB]`.

    kineto   `dlprof import` over msgspec, which decodes the same JSON into typed events and does nothing with them
    xspace   `dlprof import` over protobuf's C parser (upb), which parses the same bytes and does nothing with them

Each side is a process of its own, in turn, round by round; ratios are medians of those within a round, of the clock and of
CPU. The start of Python is in both. Files are real traces, repeated in time.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.benchmarks.peers import DLPROF, Cost, cost
from tests.benchmarks.trace_seeds import KinetoSeed, XSpaceSeed

SEEDS = Path(__file__).parents[1] / "data" / "traces"
BYTES_PER_EVENT = 362
"""Of the seed of Kineto."""
MSGSPEC = """
import sys, msgspec
from dlprof.ingest.parse.chrome import Event
class File(msgspec.Struct):
    traceEvents: list[Event]
with open(sys.argv[1], "rb") as source:
    print(len(msgspec.json.decode(source.read(), type=File, strict=False).traceEvents))
"""
UPB = """
import sys
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal import api_implementation
assert api_implementation.Type() == "upb", api_implementation.Type()
I64, U64, DOUBLE, TEXT, BYTES, MESSAGE = 3, 4, 1, 9, 12, 11
SHAPE = {
    "Space": [("planes", 1, "Plane")],
    "Plane": [("id", 1, I64), ("name", 2, TEXT), ("lines", 3, "Line"), ("events", 4, "Entry"), ("stats", 5, "Entry")],
    "Entry": [("key", 1, I64), ("value", 2, BYTES)],
    "Line": [("id", 1, I64), ("name", 2, TEXT), ("timestamp_ns", 3, I64), ("events", 4, "Event")],
    "Event": [("metadata_id", 1, I64), ("offset_ps", 2, I64), ("duration_ps", 3, I64), ("stats", 4, "Stat")],
    "Stat": [("metadata_id", 1, I64), ("d", 2, DOUBLE), ("u", 3, U64), ("i", 4, I64), ("s", 5, TEXT), ("ref", 7, U64)],
}
file = descriptor_pb2.FileDescriptorProto(name="x.proto", package="x", syntax="proto3")
for name, fields in SHAPE.items():
    message = file.message_type.add(name=name)
    for field, number, kind in fields:
        made = message.field.add(name=field, number=number, label=3 if isinstance(kind, str) else 1)
        made.type = MESSAGE if isinstance(kind, str) else kind
        if isinstance(kind, str):
            made.type_name = ".x." + kind
pool = descriptor_pool.DescriptorPool()
pool.Add(file)
space = message_factory.GetMessageClass(pool.FindMessageTypeByName("x.Space"))()
with open(sys.argv[1], "rb") as source:
    space.ParseFromString(source.read())
print(sum(len(line.events) for plane in space.planes for line in plane.lines))
"""


def compare(name: str, trace: Path, parser: str, rounds: int) -> None:
    """Print the ratios for one file."""
    pairs = []
    for number in range(rounds):
        sides: list[Callable[[Path], Cost]] = [
            lambda folder: cost([*DLPROF, "import", str(trace), "-o", str(folder / "run")], folder),
            lambda folder: cost([sys.executable, "-c", parser, str(trace)], folder),
        ]
        made: dict[int, Cost] = {}
        for side in (0, 1) if number % 2 == 0 else (1, 0):
            with tempfile.TemporaryDirectory(dir=trace.parent) as folder:
                made[side] = sides[side](Path(folder))
        pairs.append((made[0], made[1]))
    wall, cpu = (statistics.median(getattr(a, of) / getattr(b, of) for a, b in pairs) for of in ("wall", "cpu"))
    ours, theirs = (statistics.median(pair[side].wall for pair in pairs) for side in (0, 1))
    print(
        f"{name:<8} {trace.stat().st_size / 1e6:5.0f} MB  import {ours:6.2f} s, parser alone {theirs:6.2f} s: "
        f"ratio of the clock {wall:.2f}, of CPU {cpu:.2f}; peak {pairs[-1][0].peak:.0f} and {pairs[-1][1].peak:.0f} MB",
        flush=True,
    )


def main(arguments: Sequence[str]) -> None:
    """Make the files, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="rounds (default: 5)")
    parser.add_argument("--kineto", type=int, default=350, metavar="MB", help="size of the JSON (default: 350)")
    parser.add_argument("--xspace", type=int, default=200, metavar="MB", help="size of the XSpace (default: 200)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="parsers-") as folder:
        if options.kineto:
            json = Path(folder, "kineto.json")
            KinetoSeed(SEEDS / "hta_rank0.json.gz").write(json, options.kineto * 10**6 // BYTES_PER_EVENT)
            compare("kineto", json, MSGSPEC, options.rounds)
        if options.xspace:
            space = Path(folder, "trace.xplane.pb")
            XSpaceSeed(SEEDS / "tracelens_jax_gemm_mi300x.xplane.pb").write(space, options.xspace * 10**6)
            compare("xspace", space, UPB, options.rounds)


if __name__ == "__main__":
    main(sys.argv[1:])
