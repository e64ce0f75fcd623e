"""The rule out-of-memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.rules import out_of_memory
from tests.unit.analysis.findings.cases import Planted
from tests.unit.analysis.memory_runs import MB, S, sample, training
from tests.unit.runs import manifest, span, trained

RAISED = span("out_of_memory", 7, 7, name="MemoryError: Unable to allocate 7 GiB", file="train.py", line=12)


def planted() -> Planted:
    """An exception of the script said so."""
    return Planted(
        {"spans": [RAISED]}, manifest(process={"pid": 42, "exit_code": 1, "signal": None, "wall_ns": 10 * S})
    )


def claims(folder: Path, *, code: int | None = 1, signal: int | None = None, **tables: Any) -> list[Any]:
    """Claims on a run of a machine of 1 GB that ended so."""
    told = manifest(process={"pid": 42, "exit_code": code, "signal": signal, "wall_ns": 10 * S})
    told["machine"]["memory_bytes"] = 1000 * MB
    return list(out_of_memory.look(Case(trained(folder / "r", told, **tables))))


def machine(*, available: int = 800, **more: Any) -> list[dict[str, Any]]:
    """The last sample of the machine, in MB."""
    told = {name: None if value is None else value * MB for name, value in more.items()}
    return [{"time_ns": 9 * S, "interval_ns": S, "memory_available_bytes": available * MB, **told}]


def test_an_exception_is_told_with_its_line_and_what_held_memory(tmp_path: Path) -> None:
    """And the limit that it came up against."""
    owner = {"model": 1, "layer": "dense", "kind": "parameters", "bytes": 300 * MB, "how": "exact", "count": 2}
    (claim,) = claims(
        tmp_path,
        spans=[RAISED],
        memory_owners=[owner],
        machine=machine(limit_address_space_bytes=900),
        process_samples=[sample(5, 500 * MB, address_space_bytes=800 * MB)],
    )

    assert claim.sentence.before == (
        "The run was ended for want of memory: an exception left the script: MemoryError: Unable to allocate 7 GiB; "
        "800 MB of its address space were in use, of 900 MB; resident were at most 500 MB, in fit.steps; held for "
        "parameters 300 MB, other 200 MB"
    )
    assert claim.line == ("train.py", 12)
    assert claim.next_step.startswith("Use a smaller model")


def test_where_memory_grew_with_each_step_that_is_to_be_stopped(tmp_path: Path) -> None:
    """A smaller batch would only be full later."""
    (claim,) = claims(tmp_path, spans=[RAISED], **training([n * MB for n in range(100)]))

    assert claim.next_step.startswith("Memory grew with each step until none was left: stop that first")


def test_what_was_wanted_is_not_said_to_have_been_held(tmp_path: Path) -> None:
    """The batch that there was no memory for takes 5 GB, by shapes."""
    owner = {"model": 1, "layer": "dense", "kind": "activations", "bytes": 5000 * MB, "how": "estimate", "count": 1}
    (claim,) = claims(tmp_path, spans=[RAISED], memory_owners=[owner], process_samples=[sample(5, 500 * MB)])

    assert claim.sentence.before.endswith("; more than was ever there, by shapes, is wanted for activations 5.00 GB")


KILLED = {
    "the group's limit": machine(limit_group_bytes=500, group_used_bytes=490),
    "the machine's memory": machine(available=10),
}


@pytest.mark.parametrize("name", KILLED)
def test_a_kill_near_a_limit_is_one(name: str, tmp_path: Path) -> None:
    """The kernel says nothing to the process."""
    (claim,) = claims(tmp_path, code=None, signal=9, machine=KILLED[name])

    assert "it was killed (SIGKILL) when there was hardly any memory left" in claim.sentence.before


def test_a_kill_that_the_group_counted_is_one(tmp_path: Path) -> None:
    """However much was in use at the last sample."""
    rows = [
        {"time_ns": n * S, "interval_ns": S, "limit_group_bytes": 500, "group_used_bytes": 100, "group_killed_count": n}
        for n in (1, 2)
    ]
    (claim,) = claims(tmp_path, code=None, signal=9, machine=rows)

    assert "the kernel killed a process of its control group" in claim.sentence.before


def test_an_abort_near_a_limit_is_one(tmp_path: Path) -> None:
    """C++ that cannot have memory ends the program so."""
    samples = [sample(5, 500 * MB, address_space_bytes=880 * MB)]
    (claim,) = claims(
        tmp_path, code=None, signal=6, machine=machine(limit_address_space_bytes=900), process_samples=samples
    )

    assert "it was ended by SIGABRT" in claim.sentence.before


@pytest.mark.parametrize(
    "ended",
    [
        {"code": 0},
        {"code": 1},
        {"code": None, "signal": 9},
        {"code": None, "signal": 15, "machine": machine(available=10)},
        {"code": None, "signal": 6, "machine": machine(limit_address_space_bytes=900)},
        {"code": 0, "machine": machine(available=10)},
    ],
)
def test_other_ends_are_silent(ended: dict[str, Any], tmp_path: Path) -> None:
    """A script that ends well, fails, is killed with memory to spare, or is told to end."""
    assert claims(tmp_path, **ended) == []


def test_it_is_told_before_all_that_cost_time(tmp_path: Path) -> None:
    """And by the first sentence of the report."""
    told = manifest(process={"pid": 42, "exit_code": 1, "signal": None, "wall_ns": 10 * S})
    found = diagnose.diagnose(trained(tmp_path / "r", told, spans=[RAISED]))

    assert found.findings[0].slug == "out-of-memory"
