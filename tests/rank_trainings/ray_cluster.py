"""`dlprof bench --on ray` on three nodes of Ray on this machine, beside the same matrix without Ray.

python -m tests.rank_trainings.ray_cluster --dlprof venv/bin/dlprof     of an environment that has Ray

One node is killed while it makes a run, later on the benchmark itself; the same command then goes on where it was. Printed are both
tables, and whether the intervals of each measure overlap.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_SCRIPT = Path(__file__).parents[2] / "scenarios" / "mlp.py"
_MATRIX = f"""
name = "three-nodes"
repeat = 4
backends = ["mxnet", "torch"]
[trace]
kernels = "off"
[[work]]
script = "{_SCRIPT}"
arguments = ["--samples", 4096, "--epochs", 3]
"""
_LIMIT_S = 1200
_SHOWN = ("wall_s", "step_ms", "samples_per_s", "loss")


def main() -> int:
    """1 when a run is missing, or was made again though it was over."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dlprof", required=True, type=Path, metavar="PATH", help="dlprof of an environment with Ray")
    parser.add_argument(
        "--working", type=int, choices=(2, 3), default=3, help="nodes that make runs; 2: all but the head"
    )
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where results go (default: a folder that is removed)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        return _Cluster(args.dlprof.absolute(), (args.keep or Path(made)).absolute(), args.working).compare()


class _Cluster:
    """Three nodes, and what is run on them.

    Args:
        dlprof: The command; `ray` lies beside it.
        place: Where results go.
        working: How many of them have a core for tasks; each run has one thread, with Ray and without.
    """

    def __init__(self, dlprof: Path, place: Path, working: int) -> None:
        self._dlprof = dlprof
        self._place = place
        self._of_head = working - 2
        self._nodes: list[subprocess.Popen[bytes]] = []
        self._port = 6399
        address = f"127.0.0.1:{self._port}"
        # A cluster of this machine alone, on its loopback: without a token, which a user may have or not.
        self._environment = {**os.environ, "RAY_ADDRESS": address, "RAY_AUTH_MODE": "disabled", "OMP_NUM_THREADS": "1"}

    def compare(self) -> int:
        """Run both, and print what came out."""
        self._place.mkdir(exist_ok=True)
        (self._place / "m.toml").write_text(_MATRIX)
        begin = time.monotonic()
        alone = self._table(self._command("one"))
        print(f"one machine, without Ray: {time.monotonic() - begin:.0f} s", flush=True)
        try:
            begin = time.monotonic()
            self._begin()
            spread, seen = self._spread()
            print(f"three nodes of Ray: {time.monotonic() - begin:.0f} s", flush=True)
        finally:
            self._end()
        for name, table in (("one machine", alone), ("three nodes of Ray", spread)):
            print(f"\n{name}\n\n{_markdown(table)}")
        print("\n".join([*seen, *_apart(alone, spread)]))
        return 0 if [row["runs"] for row in spread["rows"]] == [row["runs"] for row in alone["rows"]] else 1

    def _begin(self) -> None:
        """Three nodes that stay in the foreground, so that each can be ended alone."""
        address = f"127.0.0.1:{self._port}"
        common = ["--block", "--disable-usage-stats", "--object-store-memory=100000000", "--node-ip-address=127.0.0.1"]
        ray, head = str(self._dlprof.parent / "ray"), ["--head", f"--port={self._port}", "--include-dashboard=false"]
        commands = [[ray, "start", *head, f"--num-cpus={self._of_head}", *common]]
        commands += [[ray, "start", f"--address={address}", "--num-cpus=1", *common] for _ in range(2)]
        for number, command in enumerate(commands):
            log = (self._place / f"node{number}.log").open("wb")
            node = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, env=self._environment)
            self._nodes.append(node)
            if number == 0:
                self._wait_for_head()
            self._wait_for_nodes()  # one by one: which did not begin is known then

    def _wait_for_head(self) -> None:
        """Until the others can find it."""
        end = time.monotonic() + 120
        while time.monotonic() < end:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._port), 1):
                return
            time.sleep(0.5)
        raise TimeoutError("the head of the cluster did not begin")

    def _wait_for_nodes(self) -> None:
        """Until each is known: where the head has no core for tasks, no run could be made before."""
        asked = "import ray; ray.init(log_to_driver=False); print(sum(one['Alive'] for one in ray.nodes()))"
        command, end = [str(self._dlprof.parent / "python"), "-c", asked], time.monotonic() + 120
        while time.monotonic() < end:
            told = subprocess.run(command, env=self._environment, capture_output=True, text=True, check=False)
            if told.stdout.strip() == str(len(self._nodes)):
                return
            time.sleep(0.5)
        raise TimeoutError("a node of the cluster did not begin")

    def _end(self) -> None:
        for node in reversed(self._nodes):
            _kill(node)

    def _command(self, output: str, *more: str) -> list[str]:
        return [str(self._dlprof), "bench", "m.toml", "-o", output, "--format", "json", *more]

    def _run(self, command: Sequence[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command, cwd=self._place, stdout=subprocess.PIPE, stderr=sys.stderr, text=True, env=self._environment
        )

    def _table(self, command: Sequence[str]) -> dict[str, Any]:
        """What a benchmark prints that goes on to its end."""
        bench = self._run(command)
        printed = bench.communicate(timeout=_LIMIT_S)[0]
        if bench.returncode or not printed:
            raise SystemExit(
                f"{command} ended with exit code {bench.returncode}, and printed {len(printed)} characters"
            )
        table: dict[str, Any] = json.loads(printed)
        return table

    def _spread(self) -> tuple[dict[str, Any], list[str]]:
        """Run the matrix on the nodes, with two accidents; the table, and what happened."""
        command = self._command("many", "--on", "ray")
        seen = []
        first = self._run(command)
        self._wait_for(2, first)
        _kill(self._nodes[2])
        seen.append(f"node 3 was killed when {self._over()} of 8 runs were over")
        self._wait_for(5, first)
        first.kill()
        first.wait()
        before = {path.name: path.stat().st_mtime_ns for path in self._cells()}
        seen.append(f"the benchmark was killed when {len(before)} runs were over, and started again")
        table = self._table(command)
        again = [name for name, at in before.items() if (self._place / "many/cells" / name).stat().st_mtime_ns != at]
        seen.append(f"{len(again)} of these were made again; {self._over()} of 8 are over in the end")
        return table, seen

    def _cells(self) -> list[Path]:
        return list((self._place / "many" / "cells").glob("*.json"))

    def _over(self) -> int:
        return len(self._cells())

    def _wait_for(self, count: int, bench: subprocess.Popen[str]) -> None:
        end = time.monotonic() + _LIMIT_S
        while self._over() < count and time.monotonic() < end:
            assert bench.poll() is None, "the benchmark ended too early"
            time.sleep(0.2)


def _kill(node: subprocess.Popen[bytes]) -> None:
    """End a node at once, with all that it has started in its session."""
    if node.poll() is None:
        os.killpg(node.pid, signal.SIGKILL)
    node.wait()


def _markdown(table: dict[str, Any]) -> str:
    lines = [f"| work | backend | runs | {' | '.join(_SHOWN)} |", f"|{' --- |' * (3 + len(_SHOWN))}"]
    for row in table["rows"]:
        values = " | ".join(_shown(row, name) for name in _SHOWN)
        lines.append(f"| {row['work']} | {row['backend']} | {row['runs']} | {values} |")
    return "\n".join(lines)


def _apart(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Measures whose intervals do not overlap."""
    found, of_other = [], {(row["work"], row["backend"]): row for row in other["rows"]}
    for row in one["rows"]:
        twin = of_other[row["work"], row["backend"]]
        for name, mine in row["interval"].items():
            its = twin["interval"].get(name)
            if mine and its and (mine[1] < its[0] or its[1] < mine[0]):
                found.append(
                    f"{row['work']} on {row['backend']}: {name} lies apart: {_shown(row, name)}, {_shown(twin, name)}"
                )
    return found or ["all intervals of both tables overlap"]


def _shown(row: dict[str, Any], name: str) -> str:
    value, interval = row["median"].get(name), row["interval"].get(name)
    if value is None:
        return "-"
    return f"{value:.4g}" if interval is None else f"{value:.4g} ({interval[0]:.4g} to {interval[1]:.4g})"


if __name__ == "__main__":
    raise SystemExit(main())
