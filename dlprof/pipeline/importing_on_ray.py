"""Reads the traces of many ranks on the nodes of a cluster of Ray, which have them at the same path, and this dlprof.

A task reads one trace into a run, which is packed there and comes back. Ray itself gives a task whose node is lost to
another one.
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dlprof import ray_nodes
from dlprof.errors import UnavailableError
from dlprof.ingest.limits import chosen
from dlprof.pipeline import importing_rank
from dlprof.pipeline.importing_rank import Made

_PLACES = ("manifest.json", "tables", "raw")
_FILES_OF_A_PROCESS = 32
"""Traces that one process of Ray reads after each other: what libraries keep for themselves goes with it."""
_RETRIES = 3
"""How often a trace is read again whose node was lost."""
_AHEAD = 2
"""Tasks for each core: one that is done, and waits for us, keeps none idle."""


@dataclass(frozen=True)
class Order:
    """What a node is to read.

    Attributes:
        path: Of the trace.
        size: Of it here (bytes); on the node it must have the same.
        reader: Name of its format; None: told from its content.
        memory_bytes: What reading may take of a node, all of its processes together; None: a quarter of its memory.
    """

    path: str
    size: int
    reader: str | None
    memory_bytes: int | None


@dataclass(frozen=True)
class Done:
    """What a node gives back: what was made of the file, and the run, packed."""

    made: Made
    packed: bytes = b""


@dataclass(frozen=True)
class OnRay:
    """A cluster that reads.

    Attributes:
        address: As `ray.init` takes it; None: that which Ray finds.
        jobs: Traces that are read at a time; None: two for each core that the cluster has for tasks.
        memory_bytes: What reading may take of a node; None: a quarter of its memory.

    Raises:
        UsageError: `jobs` makes no sense.
    """

    address: str | None
    jobs: int | None = None
    memory_bytes: int | None = None

    def __post_init__(self) -> None:
        importing_rank.check_jobs(self.jobs)

    def read(self, places: Sequence[tuple[Path, Path]], reader: str | None) -> Iterator[tuple[int, Made]]:
        """Read traces in any order.

        Args:
            places: Each trace, and where its run goes.
            reader: Name of the format of all; None: told from their content.

        Yields:
            The number of a trace among `places`, and what was made of it.

        Raises:
            UnavailableError: Ray is not installed, there is no cluster, or none of its nodes has a core for tasks.
        """
        with ray_nodes.connected(self.address) as ray:
            waiting, busy = deque(range(len(places))), dict[Any, int]()
            task = ray.remote(
                num_cpus=1, max_retries=_RETRIES, max_calls=_FILES_OF_A_PROCESS, scheduling_strategy="SPREAD"
            )(there)
            most = self.jobs or _AHEAD * _cores(ray)
            try:
                while waiting or busy:
                    while waiting and len(busy) < most:
                        number = waiting.popleft()
                        busy[task.remote(self._order(places[number][0], reader))] = number
                    ready, _ = ray.wait(list(busy))
                    for one in ready:
                        number = busy.pop(one)
                        yield number, _taken(ray, one, places[number][1])
            finally:
                for one in busy:
                    ray.cancel(one, force=True)

    def _order(self, path: Path, reader: str | None) -> Order:
        return Order(str(path.absolute()), path.stat().st_size, reader, self.memory_bytes)


def _cores(ray: Any) -> int:
    count = int(sum(ray_nodes.cores(node) for node in ray.nodes() if node["Alive"]))
    if not count:
        raise UnavailableError("No node of the cluster has cores for tasks.")
    return count


def _taken(ray: Any, one: Any, place: Path) -> Made:
    try:
        done: Done = ray.get(one)
    except ray.exceptions.RayTaskError as error:
        return Made(error=f"a node could not read it: {ray_nodes.last_line(error)}")
    except ray.exceptions.RayError as error:
        return Made(error=f"its node was lost, {_RETRIES + 1} times: {ray_nodes.last_line(error)}")
    if done.packed:
        place.mkdir(mode=0o700)
        ray_nodes.unpack(done.packed, place, _PLACES)
    return done.made


def there(order: Order) -> Done:
    """On a node: read one trace, and give the run that was made of it, packed."""
    path = Path(order.path)
    try:
        size = path.stat().st_size
    except OSError:
        size = None
    if size != order.size:
        what = "it is not there" if size is None else "it has another size there"
        return Done(Made(error=f"a node needs the folder at the same path, but on {socket.gethostname()} {what}"))
    limits = importing_rank.share_of(chosen(order.memory_bytes), len(os.sched_getaffinity(0)))
    with tempfile.TemporaryDirectory(prefix="dlprof-") as folder:
        place = Path(folder) / "run"
        made = importing_rank.read(path, place, order.reader, limits)
        return Done(made, ray_nodes.pack(place, _PLACES) if made.is_trace and made.error is None else b"")
