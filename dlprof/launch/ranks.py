"""Which process of a distributed training one is, as its launcher says it in the environment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from dlprof.schema.manifest import Rank

_MOST = 1 << 15
"""Ranks that the tables can hold."""
_BESIDE = (
    "LOCAL_WORLD_SIZE",
    "HOROVOD_LOCAL_SIZE",
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "MPI_LOCALNRANKS",
    "SLURM_NTASKS_PER_NODE",
)
"""How many there are on the machine of a rank, in the order of the launchers."""
_RESTARTS = "TORCHELASTIC_RESTART_COUNT"
_CONFIG = "TF_CONFIG"
_FIRST_OF_TENSORFLOW = ("chief", "master")
"""Tasks that train like workers, and come before them."""


@dataclass(frozen=True)
class _Launcher:
    """Variables of a launcher: number of the process, how many there are, number on its machine."""

    rank: str
    world: str
    local: str = ""
    alone: bool = True
    """Whether the number says something where it does not say how many there are."""


_LAUNCHERS = (
    _Launcher("RANK", "WORLD_SIZE", "LOCAL_RANK", alone=False),
    _Launcher("HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK"),
    _Launcher("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    _Launcher("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
    # Slurm numbers the batch script, too: only what `srun` started has the number of tasks of its step.
    _Launcher("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", alone=False),
)
"""The innermost first: `srun` may start `torchrun`."""


def of_environment(environment: Mapping[str, str]) -> Rank | None:
    """The rank that an environment tells.

    Args:
        environment: Variables of the process.

    Returns:
        The rank; None where there is none, or where it is the only process.
    """
    found = (_told(environment, launcher) for launcher in _LAUNCHERS)
    rank = next((one for one in found if one is not None), None) or _of_tensorflow(environment.get(_CONFIG))
    return None if rank is None or rank.world == 1 else rank


def on_its_machine(environment: Mapping[str, str]) -> int | None:
    """How many ranks train on the machine of one.

    Args:
        environment: Variables of the process.

    Returns:
        At least 1; None where that is not said.
    """
    if of_environment(environment) is None:
        return None
    told = next((number for name in _BESIDE if (number := _number(environment, name))), None)
    return told or _workers_of_host(environment.get(_CONFIG))


def _workers_of_host(text: str | None) -> int | None:
    """Of the tasks in TF_CONFIG that train, those with the host name of this one."""
    try:
        told = json.loads(text or "")
        cluster, task = told["cluster"], told["task"]
        own = _host(cluster[str(task["type"])][int(task["index"])])
        trained = [address for name in (*_FIRST_OF_TENSORFLOW, "worker") for address in cluster.get(name, ())]
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        return None
    return sum(1 for address in trained if _host(address) == own) or None


def _host(address: object) -> str:
    return str(address).rpartition(":")[0]


def _told(environment: Mapping[str, str], launcher: _Launcher) -> Rank | None:
    rank, world = _number(environment, launcher.rank), _number(environment, launcher.world)
    if rank is None or rank >= _MOST or (world is None and not launcher.alone):
        return None
    if world is not None and rank >= world:
        return None
    local, attempt = _number(environment, launcher.local), 0
    if launcher.rank == "RANK":
        attempt = _number(environment, _RESTARTS) or 0
    return Rank(rank=rank, world=world, local=local, attempt=attempt, by=launcher.rank)


def _number(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name, "")
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 10 else None


def _of_tensorflow(text: str | None) -> Rank | None:
    """The rank in TF_CONFIG: its place among those that train; a server of parameters has none."""
    try:
        told = json.loads(text or "")
        cluster, task = told["cluster"], told["task"]
        kind, index = str(task["type"]), int(task["index"])
        first = sum(len(cluster.get(name, ())) for name in _FIRST_OF_TENSORFLOW)
        world = first + len(cluster.get("worker", ()))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    rank = index if kind in _FIRST_OF_TENSORFLOW else first + index
    if kind not in (*_FIRST_OF_TENSORFLOW, "worker") or not 0 <= rank < min(world, _MOST):
        return None
    return Rank(rank=rank, world=world, by=_CONFIG)
