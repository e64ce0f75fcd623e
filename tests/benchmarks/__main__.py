"""Speed of dlprof, as ratios measured side by side: `python -m tests.benchmarks [NAME…] [--pairs N]`.

    steps     steady step time under default probes / without dlprof, interleaved pairs, each backend
    sidecars  CPU of the sampler and of py-spy together, in percent of one core, while a backend trains
    startup   what `dlprof trace` adds to a script's start, and to one that does nothing, part by part
    cli       `dlprof --help`, and `dlprof report` on a stored run
    folder    size of the run folder of 10,000 steps
    record    what recording one step costs in the traced process
    inferred  what finding one step of a script's own loop costs there, alone and in torch
    pages     the page of a run with 1,000,000 kernel events in headless Chromium: size, first paint, longest stall
    traces    import of large foreign traces, beside other tools: only when named first, has options of its own
              (see `python -m tests.benchmarks traces --help`)
    ranks     import of the traces of 64 ranks with one process and with two, and their report: the same
    hta       figures of HolisticTraceAnalysis beside dlprof's, of all traces below a folder: the same
    rank-steps  step time of two ranks under default probes / without dlprof, torch and JAX: the same
    beside    what samplers, py-spy and dlprof itself take from steps, stopped and continued in turn within one run: the same
    budget    pairs of bare and traced runs beside what the ledger says: the same (`... budget --help`)

Not part of the tests: times depend on the machine and on what else it does.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from dlprof.backends import registry
from dlprof.launch import environments
from tests.benchmarks import beside, budget, hta_figures, many_ranks, pages, rank_steps, startup, traces

DLPROF = [sys.executable, "-m", "dlprof"]
HERE = Path(__file__).parent
BACKENDS = ("tensorflow", "jax", "torch", "mxnet", "tensorflow1", "cntk")


def steps(pairs: int) -> None:
    """Median step time with and without, run by run in turn."""
    for backend in BACKENDS:
        ratios, bare_ms = [], []
        for pair in range(pairs):
            order = (_bare, _traced) if pair % 2 == 0 else (_traced, _bare)
            times = {run.__name__: run(backend) for run in order}
            ratios.append(times["_traced"] / times["_bare"])
            bare_ms.append(times["_bare"])
        print(
            f"steps    {backend:<11} traced/bare {statistics.median(ratios):.3f} "
            f"({min(ratios):.3f} to {max(ratios):.3f}, {pairs} pairs; bare step {statistics.median(bare_ms):.2f} ms)",
            flush=True,
        )


def _python(backend: str) -> str:
    return str(environments.ensure(registry.get(backend), report=print).python)


def _bare(backend: str) -> float:
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "KERAS_BACKEND": registry.get(backend).keras_backend, "KERAS_HOME": home}
        return _step_ms([_python(backend), str(HERE / "steady.py")], environment)


def _traced(backend: str, *flags: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *DLPROF,
            "trace",
            str(HERE / "steady.py"),
            "--backend",
            backend,
            "-o",
            f"{folder}/run",
            "--no-report",
            *flags,
        ]
        return _step_ms(command, dict(os.environ))


def _step_ms(command: list[str], environment: dict[str, str]) -> float:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.rpartition("STEP_MS ")[2])


def sidecars(_pairs: int) -> None:
    """CPU time of the sidecars over a training run."""
    for backend in BACKENDS:
        with tempfile.TemporaryDirectory() as folder:
            run = f"{folder}/run"
            subprocess.run(
                [*DLPROF, "trace", str(HERE / "steady.py"), "--backend", backend, "-o", run, "--no-report"],
                check=True,
                capture_output=True,
            )
            content = json.loads(
                subprocess.run([*DLPROF, "report", run, "--json"], check=True, capture_output=True, text=True).stdout
            )
            samples = f"SELECT avg(dlprof_cpu_pct) AS pct FROM machine WHERE time_ns > {content['wall_ns'] * 0.4}"
            steady = json.loads(
                subprocess.run(
                    [*DLPROF, "sql", run, samples, "--format", "json"], check=True, capture_output=True, text=True
                ).stdout
            )
        costs = {p["name"]: p["cost_ns"] for p in content["probes"]}
        total = 100 * (costs["cores"] + costs["stacks"]) / content["wall_ns"]
        print(
            f"sidecars {backend:<11} steady {steady[0]['pct']:.2f} % of one core; with start-up {total:.2f} % over {content['wall_ns'] / 1e9:.0f} s",
            flush=True,
        )


def cli(pairs: int) -> None:
    """Wall time of commands that people wait for."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [
                *DLPROF,
                "trace",
                str(HERE.parents[1] / "scenarios" / "mlp.py"),
                "--backend",
                "mxnet",
                "-o",
                f"{folder}/run",
                "--no-report",
            ],
            check=True,
            capture_output=True,
        )
        for name, command in (("--help", [*DLPROF, "--help"]), ("report", [*DLPROF, "report", f"{folder}/run"])):
            _seconds(command)
            print(
                f"cli      dlprof {name:<7} {statistics.median(_seconds(command) for _ in range(pairs)):.3f} s",
                flush=True,
            )


def _seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def folder(_pairs: int) -> None:
    """Bytes of a run of 10,000 steps."""
    with tempfile.TemporaryDirectory() as place:
        run = Path(place) / "run"
        subprocess.run(
            [
                *DLPROF,
                "trace",
                str(HERE / "steady.py"),
                "--backend",
                "mxnet",
                "-o",
                str(run),
                "--no-report",
                "--",
                "--calls",
                "100",
                "--steps",
                "100",
                "--width",
                "16",
            ],
            check=True,
            capture_output=True,
        )
        parts = {
            sub.name: sum(f.stat().st_size for f in sub.rglob("*") if f.is_file()) / 1e6
            for sub in run.iterdir()
            if sub.is_dir()
        }
    print(
        f"folder   {sum(parts.values()):.2f} MB for 10,000 steps ({', '.join(f'{n} {v:.2f}' for n, v in parts.items())})",
        flush=True,
    )


def record(_pairs: int) -> None:
    """Time per step of the hooks around a step that does nothing."""
    done = subprocess.run([sys.executable, str(HERE / "step_record.py")], check=True, capture_output=True, text=True)
    print(f"record   {done.stdout.strip()}", flush=True)


def inferred(_pairs: int) -> None:
    """CPU time per step of finding own loops."""
    for python, script in ((sys.executable, "inferred_step.py"), (_python("torch"), "inferred_torch.py")):
        done = subprocess.run([python, str(HERE / script)], check=True, capture_output=True, text=True)
        for line in done.stdout.splitlines():
            print(f"inferred {line}", flush=True)


BENCHMARKS: dict[str, Callable[[int], None]] = {
    "pages": lambda _pairs: pages.main(),
    "record": record,
    "inferred": inferred,
    "cli": cli,
    "startup": startup.main,
    "folder": folder,
    "sidecars": sidecars,
    "steps": steps,
}


WITH_OPTIONS: dict[str, Callable[[Sequence[str]], None]] = {
    "traces": traces.main,
    "beside": beside.main,
    "budget": budget.main,
    "ranks": many_ranks.main,
    "rank-steps": rank_steps.main,
    "hta": hta_figures.main,
}
"""Those with options of their own, run only when named first."""


def main() -> None:
    """Run the benchmarks named on the command line, or all."""
    alone = WITH_OPTIONS.get(sys.argv[1]) if len(sys.argv) > 1 else None
    if alone is not None:
        alone(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*BENCHMARKS, []], metavar="NAME")
    parser.add_argument("--pairs", type=int, default=7)
    args = parser.parse_args()
    for name in args.names or BENCHMARKS:
        BENCHMARKS[name](args.pairs)


if __name__ == "__main__":
    main()
