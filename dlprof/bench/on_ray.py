"""A benchmark on an existing cluster of Ray: one run a node at a time, results gathered, runs of lost nodes made again.

Each node needs this dlprof, and the matrix with its scripts at the same path. What a run leaves is packed there and
comes back through Ray; it is unpacked here under names that cannot lead out of the benchmark's folder.
"""

from __future__ import annotations

import importlib
import os
import tempfile
import time
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from dlprof import ray_nodes
from dlprof.bench import matrix as matrices
from dlprof.bench import running
from dlprof.bench.matrix import Cell, Matrix
from dlprof.bench.results import CellResult, Folder
from dlprof.errors import DlprofError, Report, UnavailableError, UsageError
from dlprof.store import lock

_LOOK_S = 2.0
"""How often the nodes of the cluster are looked at (s)."""
_PAUSE_S = 30.0
"""How long a node gets nothing after a run on it was lost: so long Ray may take it for alive (s)."""
_JOIN_S = 60.0
"""How long nodes with cores are waited for."""
_ATTEMPTS = 3
"""A run whose node was lost so often fails."""
_PLACES = ("cells", "runs")
_THREADS = "OMP_NUM_THREADS"


@dataclass(frozen=True)
class Order:
    """What a node is to do.

    Attributes:
        matrix: Path of the matrix.
        digest: Of what it says; on the node it must say the same.
        repeat: Runs of each pair.
        number: Which run, from 1 on.
        threads: OMP_NUM_THREADS where the command was given; None: it was not set. Ray sets one of its own.
    """

    matrix: str
    digest: str
    repeat: int
    number: int
    threads: str | None = None


def run(matrix_file: Path, matrix: Matrix, folder: Folder, address: str | None, report: Report) -> list[CellResult]:
    """Run every cell that is not over yet on the nodes of a cluster, and give the results of all.

    Args:
        matrix_file: The file of the matrix.
        matrix: Its content.
        folder: The results.
        address: Of the cluster, as `ray.init` takes it; None: that which Ray finds.
        report: Takes a line for the user.

    Raises:
        UnavailableError: Ray is not installed, there is no cluster, or all of its nodes were lost.
        UsageError: The folder is another benchmark's.
        CannotCreateError: Another dlprof runs one in it.
    """
    with ray_nodes.connected(address) as ray:
        folder.begin(matrix)
        with lock.held(folder.path, "runs a benchmark in", wait_s=0):
            return _Cluster(ray, matrix_file, matrix, folder, report).run()


@dataclass
class _Cluster:
    """The runs on the nodes of a cluster."""

    ray: Any
    matrix_file: Path
    matrix: Matrix
    folder: Folder
    report: Report
    busy: dict[Any, tuple[str, int]] = field(default_factory=dict)
    """What is awaited from a node to the node and the number of the run."""
    lost: Counter[int] = field(default_factory=Counter)
    """Number of a run to how often its node was lost."""
    paused: dict[str, float] = field(default_factory=dict)
    """Node to when it may get a run again."""
    unfit: dict[str, str] = field(default_factory=dict)
    """Node to why no run can be made on it."""
    alone_since: float | None = None
    """Since when no node can make a run; None: one can."""

    def run(self) -> list[CellResult]:
        cells = self.matrix.cells()
        waiting = deque(number for number, cell in enumerate(cells, 1) if not self.folder.result(cell).is_file())
        if len(waiting) < len(cells):
            self.report(f"{len(cells) - len(waiting)} of {len(cells)} runs were made before; {len(waiting)} are left")
        try:
            while waiting or self.busy:
                self._give_out(waiting, cells)
                for one in self._ready():
                    self._take(one, cells, waiting)
        finally:
            for one in self.busy:
                self.ray.cancel(one, force=True)
        return self.folder.results(cells)

    def _ready(self) -> list[Any]:
        """What has come back from a node; it is waited for a while."""
        if self.busy:
            ready, _ = self.ray.wait(list(self.busy), timeout=_LOOK_S)
            return list(ready)
        time.sleep(_LOOK_S)
        return []

    def _give_out(self, waiting: deque[int], cells: list[Cell]) -> None:
        """Give each node that has nothing to do a run."""
        alive = {node["NodeID"]: node for node in self.ray.nodes() if node["Alive"]}
        if not alive:
            raise UnavailableError("All nodes of the cluster were lost.", hint="the same command goes on where it was")
        # A head that is given no cores is there to lead the others.
        nodes = {name: node for name, node in alive.items() if ray_nodes.cores(node) and name not in self.unfit}
        if nodes:
            self.alone_since = None
        elif not self.busy:
            self._wait_for_nodes()
        taken = {node for node, _ in self.busy.values()}
        now = time.monotonic()
        for name, node in nodes.items():
            if waiting and name not in taken and now >= self.paused.get(name, now):
                number = waiting.popleft()
                self.busy[self._begun(name, node, number)] = name, number
                self.report(f"{cells[number - 1].name} on {node.get('NodeManagerHostname') or name[:8]}")

    def _wait_for_nodes(self) -> None:
        """There is no node that can make a run: others may join, as where a head begins before them."""
        if self.alone_since is None:
            self.alone_since = time.monotonic()
        if self.unfit or time.monotonic() - self.alone_since >= _JOIN_S:
            why = next(iter(self.unfit.values()), "none of its nodes has cores for tasks")
            raise UnavailableError(f"No node of the cluster can make a run: {why}.")

    def _begun(self, name: str, node: Mapping[str, Any], number: int) -> Any:
        where = importlib.import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
        task = self.ray.remote(there).options(
            num_cpus=ray_nodes.cores(node),  # all of them: nothing of Ray's runs beside it
            max_retries=0,
            scheduling_strategy=where(node_id=name, soft=False),
        )
        path = str(self.matrix_file.absolute())
        threads = os.environ.get(_THREADS)
        return task.remote(Order(path, self.matrix.digest, self.matrix.repeat, number, threads))

    def _take(self, one: Any, cells: list[Cell], waiting: deque[int]) -> None:
        node, number = self.busy.pop(one)
        cell = cells[number - 1]
        try:
            done = self.ray.get(one)
        except self.ray.exceptions.RayError as error:
            self.lost[number] += 1
            self.paused[node] = time.monotonic() + _PAUSE_S
            why = "its node was lost"
            if isinstance(error, self.ray.exceptions.RayTaskError):  # the node is there, but cannot do it
                why = "its node could not run it"
                self.unfit[node] = ray_nodes.last_line(error)
            if self.lost[number] < _ATTEMPTS:
                self.report(f"{cell.name}: {why}; it is run again ({ray_nodes.last_line(error)})")
                waiting.append(number)
                return
            done = Done(None, b"", f"{why}, {_ATTEMPTS} times: {ray_nodes.last_line(error)}")
        if done.result is None:
            result = CellResult(
                work=cell.work.name, backend=cell.backend, number=cell.number, ranks=cell.ranks, error=done.why
            )
        else:
            result = msgspec.convert(done.result, CellResult)
            ray_nodes.unpack(done.packed, self.folder.path, _PLACES)
        if result.error:
            self.report(f"  {cell.name} failed: {result.error}")
        self.folder.write(cell, result)


@dataclass(frozen=True)
class Done:
    """What a node gives back.

    Attributes:
        result: What came out of the run; None: it could not be begun.
        packed: What it left: cells and runs of the benchmark's folder, as a packed tar.
        why: Why it could not be begun.
    """

    result: dict[str, Any] | None
    packed: bytes
    why: str | None = None


def there(order: Order) -> Done:
    """On a node: run one cell in a folder of its own, and give what came out of it, packed."""
    os.environ.pop(_THREADS, None)
    if order.threads is not None:
        os.environ[_THREADS] = order.threads
    with tempfile.TemporaryDirectory(prefix="dlprof-") as place:
        folder = Folder(Path(place) / "bench")
        try:
            matrix = replace(matrices.load(Path(order.matrix)), repeat=order.repeat)
            if matrix.digest != order.digest:
                raise UsageError(f"{order.matrix} says something else on this node.")
            result = running.run_one(matrix, folder, order.number, lambda _line: None)
        except DlprofError as error:
            return Done(None, b"", error.message)
        return Done(msgspec.structs.asdict(result), ray_nodes.pack(folder.path, _PLACES))
