"""Waits for memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.diagnose import diagnose
from dlprof.analysis.findings.finding import Support
from dlprof.analysis.findings.rules import memory_pressure
from dlprof.schema.vocabulary import Ground
from tests.unit import runs
from tests.unit.analysis.findings.cases import (
    BEGIN,
    BUSY,
    FIT,
    Planted,
    cpu,
    diagnosed,
    keep_source,
    on,
    pick,
    quiet,
    sampled,
    slugs,
    waiting_for_input,
)
from tests.unit.analysis.findings.rules.test_costly_metric import beside as metrics_of
from tests.unit.analysis.findings.rules.test_costly_operator import COPY
from tests.unit.analysis.findings.rules.test_costly_operator import beside as operators_beside
from tests.unit.analysis.findings.rules.test_wasteful_layer import tables as flattened
from tests.unit.analysis.findings.test_heavy_weights import parameter
from tests.unit.analysis.findings.test_own_loop_python import OWN
from tests.unit.analysis.findings.test_own_loop_waits import giving_back
from tests.unit.runs import S


def planted() -> Planted:
    """2 s of stalls that the kernel counted."""
    return Planted(quiet(**cpu((2.5, BEGIN), (7.5, BUSY), stall_memory_ns=2 * S)))


def test_waiting_for_memory_is_named(tmp_path: Path) -> None:
    """2 s of stalls that the kernel counted."""
    assert pick(planted().diagnosis(tmp_path), "memory-pressure").at_stake_ns == pytest.approx(2 * S, rel=0.01)


def test_memory_is_waited_for_where_the_scripts_own_code_is_called(tmp_path: Path) -> None:
    """1 s of stalls, in the 2 s for which a generator makes batches: it leaves the other second to the input."""
    calls = [*FIT, ("__next__", "keras/src/iterator.py", 3), ("batches", "train.py", 21)]
    stalled = cpu((2.5, BEGIN), (5.5, BUSY), stall_memory_ns=S)
    diagnosis = diagnosed(tmp_path / "r", **waiting_for_input(**sampled((6, 8, calls)), **stalled))

    assert {one.slug: one.at_stake_ns for one in diagnosis.findings} == {"memory-pressure": S, "input-bound": S}


@pytest.mark.parametrize(("memory_bytes", "is_by_others"), [(20 * S, True), (int(1.5 * S), False)])
def test_where_others_filled_the_memory_it_is_not_the_script_that_should_use_less(
    tmp_path: Path, memory_bytes: int, is_by_others: bool
) -> None:
    """A process of 1 GB, on a machine of 20 GB of which nothing was left; or on one of 1.5 GB."""
    tables = quiet(**cpu((2.5, BEGIN), (7.5, BUSY), stall_memory_ns=2 * S, memory_available_bytes=0))
    machine = {**runs.manifest()["machine"], "memory_bytes": memory_bytes}

    finding = pick(diagnosed(tmp_path / "r", runs.manifest(machine=machine), **tables), "memory-pressure")

    assert finding.next_step.startswith("Other programs had filled the memory") is is_by_others


def test_pages_of_a_huge_layer_s_weights_are_that_layer_s(tmp_path: Path) -> None:
    """Each of 300 steps makes 4,000 pages: the gradient of 4 million weights, in front of which maps are flattened."""
    process = {**runs.manifest()["process"], "cpu_user_ns": 9 * S, "cpu_system_ns": 3 * S}
    counted = cpu((2.0, BEGIN), (8.0, {**BUSY, "faults_minor": 1_200_000, "rss_bytes": 2 * S}))
    dense = parameter("dense", "8192x512", bytes=4 * 8192 * 512)
    tables = {**flattened(), **counted, "memory_owners": [dense, parameter("conv", "3x3x3x32")]}
    told = slugs(diagnosed(tmp_path / "a", runs.manifest(process=process), **tables))
    plain = {**tables, "layers": [], "memory_owners": [dense]}

    assert (told[0], "memory-pressure" in told) == ("wasteful-layer", False)
    assert "memory-pressure" in slugs(diagnosed(tmp_path / "b", runs.manifest(process=process), **plain))


_PAGES = cpu((2.0, BEGIN), (8.0, {**BUSY, "faults_minor": 1_200_000, "rss_bytes": 2 * S}))
_TOUCHING = {**runs.manifest()["process"], "cpu_user_ns": 9 * S, "cpu_system_ns": 3 * S}
_KEPT = (
    "glibc.malloc.mmap_threshold=4294967296:glibc.malloc.trim_threshold=4294967296:glibc.malloc.top_pad=67108864:"
    "glibc.malloc.arena_max=1"
)


@pytest.mark.parametrize(
    ("environment", "tried"),
    [
        ({}, _KEPT),
        ({"GLIBC_TUNABLES": "glibc.pthread.rseq=0"}, f"glibc.pthread.rseq=0:{_KEPT}"),
        ({"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}, None),
        ({"LD_PRELOAD": "/usr/lib/libjemalloc.so.2"}, None),
    ],
)
def test_new_pages_are_kept_by_malloc_where_nobody_has_seen_to_it(
    environment: dict[str, str], tried: str | None, tmp_path: Path
) -> None:
    """200,000 pages a second; beside other settings of the C library, and not where its malloc was changed before."""
    told = runs.manifest(process=_TOUCHING, environment=environment)
    finding = pick(diagnosed(tmp_path / "r", told, **quiet(**_PAGES)), "memory-pressure")

    assert (finding.remedy.environment if finding.remedy else {}) == ({"GLIBC_TUNABLES": tried} if tried else {})
    assert (finding.fix == f"GLIBC_TUNABLES={tried}") == (tried is not None)


def test_pages_beside_an_evaluation_that_records_graphs_are_asked_for_there(tmp_path: Path) -> None:
    """It is to be evaluated without gradients first, and malloc is left alone."""
    stack = [("<module>", "train.py", 4), ("validate", "train.py", 3), ("Linear.forward", "torch/nn/linear.py", 9)]
    told = {**on("torch"), "process": _TOUCHING, "keras": None}
    run = runs.trained(tmp_path / "r", told, **quiet(**_PAGES, **sampled((3, 5, stack))))
    keep_source(run, "def validate():\n    net.eval()\n    return net(x)\nvalidate()\n")
    finding = pick(diagnose(run), "memory-pressure")

    assert finding.next_step.startswith("See first whether that is gone with the evaluation under torch.no_grad()")
    assert (finding.remedy, finding.fix) == (None, "with torch.no_grad(): around the evaluation")


def test_where_memory_ran_short_less_is_to_be_used_and_not_more_kept(tmp_path: Path) -> None:
    """The kernel counted stalls, and hardly any page was new."""
    finding = pick(planted().diagnosis(tmp_path), "memory-pressure")

    assert (finding.remedy, finding.next_step.startswith("Use less memory")) == (None, True)


def test_pages_of_the_engine_s_own_operators_are_a_question(tmp_path: Path) -> None:
    """False before: it was claimed; engines make what their operators return anew in any script of large arrays."""
    finding = pick(diagnosed(tmp_path / "r", runs.manifest(process=_TOUCHING), **quiet(**_PAGES)), "memory-pressure")

    assert finding.confidence == 0.28


@pytest.mark.parametrize(("ms", "slugs_told"), [(15, ["costly-metric"]), (6, ["memory-pressure", "costly-metric"])])
def test_pages_that_metrics_touch_are_theirs(tmp_path: Path, ms: float, slugs_told: list[str]) -> None:
    """Where most kernels are a metric's: what it compares with each threshold is made anew in each step."""
    told = slugs(diagnosed(tmp_path / "r", runs.manifest(process=_TOUCHING), **{**metrics_of(ms), **_PAGES}))

    assert told == slugs_told


def test_pages_of_arrays_that_are_copied_to_change_a_part_are_the_copies(tmp_path: Path) -> None:
    """15 of 16 ms of kernels in a loop of JAX: "no large arrays anew" was first, and no advice for it."""
    told = {**on("jax", asynchronous=True), "keras": None, "process": _TOUCHING}
    row = {"file": "train.py", "function": "loop", "first_line": 9, "line": 9, "hits": 3, "time_ns": 1}
    run = runs.trained(tmp_path / "r", told, **{**operators_beside(COPY, 15), **_PAGES}, lines=[row])
    keep_source(run, "def put(state, row, new):\n    return state.at[row].set(new)\n")

    found = slugs(diagnose(run))

    assert found[0] == "costly-operator"
    assert "memory-pressure" not in found


def test_pages_of_batches_that_the_script_makes_are_claimed(tmp_path: Path) -> None:
    """A generator makes them for 2 s of the 4 in which no step runs."""
    calls = [*FIT, ("__next__", "keras/src/iterator.py", 3), ("batches", "train.py", 21)]
    counted = cpu((2.5, BEGIN), (5.5, {**BUSY, "faults_minor": 1_200_000, "rss_bytes": 2 * S}))
    tables = waiting_for_input(**sampled((6, 8, calls)), **counted)
    (claim,) = memory_pressure.look(Case(runs.trained(tmp_path / "r", runs.manifest(process=_TOUCHING), **tables)))

    assert claim.support == Support(Ground.MODEL)


def test_pages_of_what_workers_send_back_are_the_wait_for_them(tmp_path: Path) -> None:
    """10 GB of it fill more than the 1.2 million pages that were made."""
    process = {**OWN["process"], "cpu_user_ns": 9 * S, "cpu_system_ns": 3 * S}
    tables = giving_back()
    for sample in tables["process_samples"]:
        sample["faults_minor"] = 1_200_000 * (sample["pid"] == 42 and sample["time_ns"] == 8 * S)

    told = slugs(diagnosed(tmp_path / "r", {**OWN, "process": process}, **tables))
    lone = slugs(diagnosed(tmp_path / "s", {**OWN, "process": process}, **{**tables, "processes": []}))

    assert ("memory-pressure" in told, "script-waits" in told) == (False, True)
    assert "memory-pressure" in lone
