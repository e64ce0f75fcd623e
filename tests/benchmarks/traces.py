"""Import of large foreign traces, by dlprof and by its peers, side by side: `python -m tests.benchmarks traces`.

    kineto      JSON of torch.profiler, 1 million events: dlprof import and dlprof kernels, HolisticTraceAnalysis
                (load and sum by name; load and its table of operators and kernels), Perfetto (parse and sum by name)
    kineto.gz   the same file, packed
    xspace      200 MB of the TensorFlow and JAX profilers: dlprof, xprof (framework_op_stats), jaxlib (sum by name)
    scale       dlprof alone on Kineto JSON of 1, 2, 5 and 10 million events (the last two are measured once)

The files are real traces, repeated in time with numbers of their own. Each tool runs in a process of its own, the
tools in turn, round by round; figures are medians over the rounds, ratios are medians of the ratios within a round.
Peers are installed with uv into environments that are kept; one that cannot be installed or fails is a row that
says so. dlprof stands for `dlprof import` and `dlprof kernels --by op --json` together: sum of the times, larger of
the memories. All tools read all of a file, but dlprof keeps only what ran: not idle marks or calls of Python.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import statistics
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import platformdirs

from tests.benchmarks.peers import (
    COLUMNS,
    HTA,
    JAXLIB,
    XPROF,
    Cost,
    Peers,
    Tool,
    compare,
    dlprof,
    import_and_show,
)
from tests.benchmarks.trace_seeds import KinetoSeed, XSpaceSeed

SEEDS = Path(__file__).parents[1] / "data" / "traces"
TORCH_SEED = SEEDS / "hta_rank0.json.gz"
XSPACE_SEED = SEEDS / "tracelens_jax_gemm_mi300x.xplane.pb"
DISK_BYTES = 12e9
"""Free space below which 10 million events are left out."""


def _packed(path: Path) -> Path:
    packed = path.with_name(path.name + ".gz")
    with path.open("rb") as source, gzip.open(packed, "wb", 6) as target:
        shutil.copyfileobj(source, target, 1 << 22)
    return packed


def kineto(seed: Path, options: argparse.Namespace, folder: Path, peers: Peers) -> None:
    """The cases `kineto` and `kineto.gz`."""
    requirement = "HolisticTraceAnalysis==0.5.0"

    def tools() -> list[Tool]:
        return [dlprof(), peers.script("HTA, sums by name", requirement, HTA, "sums"), peers.perfetto()]

    trace = folder / "kineto.json"
    events = KinetoSeed(seed).write(trace, options.events)
    print(f"# kineto: {_stem(seed)}, {events:,} events, {trace.stat().st_size / 1e6:.0f} MB", flush=True)
    operators = peers.script("HTA, operators (once)", requirement, HTA, "operators", once=True)
    compare("kineto", trace, [*tools(), operators], options.rounds)
    packed = _packed(trace)
    trace.unlink()
    print(f"# kineto.gz: the same, {packed.stat().st_size / 1e6:.0f} MB", flush=True)
    compare("kineto.gz", packed, tools(), options.rounds)
    packed.unlink()


def xspace(seed: Path, options: argparse.Namespace, folder: Path, peers: Peers) -> None:
    """The case `xspace`."""
    trace = folder / "trace.xplane.pb"
    events = XSpaceSeed(seed).write(trace, options.megabytes * 10**6)
    print(f"# xspace: {_stem(seed)}, {events:,} events, {trace.stat().st_size / 1e6:.0f} MB", flush=True)
    tools = [
        dlprof(),
        peers.script("xprof", "xprof==2.24.2", XPROF),
        peers.script("jaxlib ProfileData", "jaxlib==0.10.2", JAXLIB),
    ]
    compare("xspace", trace, tools, options.rounds)
    trace.unlink()


def scale(seed: Path, options: argparse.Namespace, folder: Path) -> None:
    """The case `scale`."""
    print(
        f"# scale: {_stem(seed)}, dlprof alone, 5 and 10 million once\n{'events':>12} {'MB':>6} {'import s':>9} {'us/event':>9} "
        f"{'CPU us/ev':>9} {'peak MB':>8} {'bytes/event':>11} {'kernels s':>9} {'peak MB':>8}",
        flush=True,
    )
    source = KinetoSeed(seed)
    for millions in (1, 2) if options.quick else (1, 2, 5, 10):
        if millions == 10 and shutil.disk_usage(folder).free < DISK_BYTES:
            print(f"{10**7:>12,} left out: less than {DISK_BYTES / 1e9:.0f} GB of disk are free", flush=True)
            continue
        trace = folder / "scale.json"
        events = source.write(trace, options.events * millions)
        made, shown, stored = [], [], 0
        for _ in range(options.rounds if millions < 5 else 1):
            with tempfile.TemporaryDirectory(dir=folder) as place:
                one, other = import_and_show(trace, Path(place))
                made.append(one)
                shown.append(other)
                stored = sum(f.stat().st_size for f in Path(place, "run", "tables").rglob("*") if f.is_file())
        size = trace.stat().st_size / 1e6
        trace.unlink()
        wall, cpu, peak = _medians(made)
        print(
            f"{events:>12,} {size:>6.0f} {wall:>9.2f} {1e6 * wall / events:>9.2f} {1e6 * cpu / events:>9.2f} "
            f"{peak:>8.0f} {stored / events:>11.2f} {_medians(shown)[0]:>9.2f} {_medians(shown)[2]:>8.0f}",
            flush=True,
        )


def _medians(costs: Iterable[Cost]) -> tuple[float, float, float]:
    walls, cpus, peaks = zip(*((found.wall, found.cpu, found.peak) for found in costs), strict=True)
    return statistics.median(walls), statistics.median(cpus), statistics.median(peaks)


def _stem(path: Path) -> str:
    return path.name.split(".")[0]


def main(arguments: Sequence[str]) -> None:
    """Run the cases that are named, or all."""
    parser = argparse.ArgumentParser(
        "traces", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*", metavar="CASE", help="kineto, xspace or scale (default: all)")
    parser.add_argument("--pairs", "--rounds", dest="rounds", type=int, default=3, help="rounds (default: 3)")
    parser.add_argument("--torch-seed", type=Path, action="append", metavar="FILE", help="trace to repeat; several ok")
    parser.add_argument("--xspace-seed", type=Path, action="append", metavar="FILE", help="trace to repeat; several ok")
    parser.add_argument("--peers", type=Path, metavar="DIR", help="environments of the peers (default: user's cache)")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where traces are made (default: a temporary one)")
    parser.add_argument("--quick", action="store_true", help="one round over a tenth of the size, no large scales")
    options = parser.parse_args(arguments)
    wrong = set(options.cases) - {"kineto", "xspace", "scale"}
    if wrong:
        parser.error(f"no such case: {', '.join(sorted(wrong))}")
    options.events, options.megabytes = (100_000, 20) if options.quick else (1_000_000, 200)
    if options.quick:
        options.rounds = 1
    if options.folder:
        options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="traces-", dir=options.folder) as folder:
        _cases(options, Path(folder))


def _cases(options: argparse.Namespace, folder: Path) -> None:
    cache = Path(platformdirs.user_cache_dir("dlprof-benchmarks", appauthor=False))
    peers = Peers((options.peers or cache).absolute())
    cases = options.cases or ["kineto", "xspace", "scale"]
    torch_seeds = [seed for seed in options.torch_seed or [TORCH_SEED] if _there(seed, "--torch-seed")]
    print(f"{options.rounds} rounds; ratios: so many times dlprof's\n{COLUMNS}", flush=True)
    if "kineto" in cases:
        for seed in torch_seeds:
            kineto(seed, options, folder, peers)
    if "xspace" in cases:
        for seed in options.xspace_seed or [XSPACE_SEED]:
            if _there(seed, "--xspace-seed"):
                xspace(seed, options, folder, peers)
    if "scale" in cases:
        for seed in torch_seeds[:1]:
            scale(seed, options, folder)


def _there(seed: Path, option: str) -> bool:
    if not seed.is_file():
        print(f"left out: there is no {seed}; capture a trace of your own, and give it with {option}", flush=True)
    return seed.is_file()
