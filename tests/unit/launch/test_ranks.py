"""Ranks, as launchers tell them."""

from __future__ import annotations

import json

import pytest

from dlprof.launch import ranks
from dlprof.schema.manifest import Rank

CLUSTER = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]}


@pytest.mark.parametrize(
    ("environment", "rank"),
    [
        ({"RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "1"}, Rank(rank=3, world=8, local=1, by="RANK")),
        (
            {"RANK": "0", "WORLD_SIZE": "2", "TORCHELASTIC_RESTART_COUNT": "2"},
            Rank(rank=0, world=2, attempt=2, by="RANK"),
        ),
        ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, Rank(rank=1, world=2, by="OMPI_COMM_WORLD_RANK")),
        ({"PMI_RANK": "1", "PMI_SIZE": "4"}, Rank(rank=1, world=4, by="PMI_RANK")),
        ({"PMI_RANK": "1"}, Rank(rank=1, by="PMI_RANK")),
        ({"HOROVOD_RANK": "1", "HOROVOD_SIZE": "2"}, Rank(rank=1, world=2, by="HOROVOD_RANK")),
        ({"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "6"}, Rank(rank=5, world=6, by="SLURM_PROCID")),
    ],
)
def test_the_variables_of_each_launcher_are_read(environment: dict[str, str], rank: Rank) -> None:
    """Number, how many, number on the machine, restarts."""
    assert ranks.of_environment(environment) == rank


def test_a_launcher_within_another_one_counts() -> None:
    """Of `srun torchrun`, in which each task has several ranks."""
    environment = {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2", "RANK": "6", "WORLD_SIZE": "8"}
    assert ranks.of_environment(environment) == Rank(rank=6, world=8, by="RANK")


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"RANK": "1"},
        {"RANK": "0", "WORLD_SIZE": "1"},
        {"RANK": "2", "WORLD_SIZE": "2"},
        {"RANK": "-1", "WORLD_SIZE": "2"},
        {"RANK": "x", "WORLD_SIZE": "2"},
        {"SLURM_PROCID": "0", "SLURM_NTASKS": "8"},
        {"TF_CONFIG": "no JSON"},
        {"TF_CONFIG": "[]"},
        {"TF_CONFIG": json.dumps({"cluster": CLUSTER, "task": {"type": "ps", "index": 0}})},
        {"TF_CONFIG": json.dumps({"cluster": CLUSTER, "task": {"type": "worker", "index": 2}})},
    ],
)
def test_what_is_no_rank_of_several_is_none(environment: dict[str, str]) -> None:
    """One process alone, a batch script of Slurm, a server of parameters, what makes no sense."""
    assert ranks.of_environment(environment) is None


@pytest.mark.parametrize(("kind", "index", "rank"), [("chief", 0, 0), ("worker", 0, 1), ("worker", 1, 2)])
def test_the_chief_of_tensorflow_comes_before_its_workers(kind: str, index: int, rank: int) -> None:
    """All of them train; servers of parameters do not count."""
    config = json.dumps({"cluster": CLUSTER, "task": {"type": kind, "index": index}})
    assert ranks.of_environment({"TF_CONFIG": config}) == Rank(rank=rank, world=3, by="TF_CONFIG")


@pytest.mark.parametrize(
    ("environment", "count"),
    [
        ({"RANK": "3", "WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "4"}, 4),
        ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}, 2),
        ({"RANK": "3", "WORLD_SIZE": "8"}, None),
        ({"LOCAL_WORLD_SIZE": "4"}, None),
        ({"RANK": "1", "WORLD_SIZE": "2", "TF_CONFIG": "[]"}, None),
    ],
)
def test_how_many_ranks_a_machine_has_is_told_by_some_launchers(environment: dict[str, str], count: int | None) -> None:
    """Of a process that is no rank nothing is told."""
    assert ranks.on_its_machine(environment) == count


def test_workers_of_tensorflow_with_the_same_host_are_on_one_machine() -> None:
    """A server of parameters is no rank."""
    cluster = {"chief": ["a:1"], "worker": ["a:2", "b:1", "a:3"], "ps": ["a:4"]}
    told = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": 0}})

    assert ranks.on_its_machine({"TF_CONFIG": told}) == 3
