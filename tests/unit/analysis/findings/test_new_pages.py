"""New pages of memory, and what they take."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings import new_pages
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain
from dlprof.analysis.findings.heavy_weights import Weights
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import StepPart
from tests.unit import runs
from tests.unit.analysis.findings.cases import BEGIN, BUSY, cpu, quiet
from tests.unit.analysis.findings.test_heavy_weights import parameter
from tests.unit.runs import S

PROCESS = {**runs.manifest()["process"], "cpu_user_ns": 9 * S, "cpu_system_ns": 3 * S}
"""A quarter of its CPU time was inside the kernel."""


def case(path: Path, pages: int, before: int = 0) -> Case:
    """A run whose training of 6 s, on a core all the time, touched so many new pages; before it there were others."""
    counted = cpu(
        (2.0, {**BEGIN, "faults_minor": before}), (8.0, {**BUSY, "faults_minor": before + pages, "rss_bytes": 2 * S})
    )
    return Case(runs.trained(path / "r", runs.manifest(process=PROCESS), **quiet(**counted)))


@pytest.mark.parametrize(("before", "waited_s"), [(0, 2.7), (300_000, 2.1)])
def test_time_in_the_kernel_goes_to_the_training_by_its_pages(tmp_path: Path, before: int, waited_s: float) -> None:
    """3 s of its 6 s, or four fifths of them, less 5 % of the 6 s that are usual; what came before used no page, or 300,000."""
    pages = new_pages.of_training(case(tmp_path, 1_200_000, before))

    assert (pages.minor, pages.major, pages.peak_bytes) == (1_200_000, 0, 2 * S)
    assert pages.waited_ns == pytest.approx(waited_s * S, rel=1e-6)


def test_few_new_pages_take_nothing(tmp_path: Path) -> None:
    """50,000 a second."""
    assert new_pages.of_training(case(tmp_path, 300_000)).waited_ns == 0


def test_without_samples_nothing_is_known(tmp_path: Path) -> None:
    """Not even that there were none."""
    with pytest.raises(Abstain, match="page faults were not sampled"):
        new_pages.of_training(Case(runs.trained(tmp_path / "r", **quiet())))


@pytest.mark.parametrize(
    ("kilobytes", "share"), [(16_000, 1.0), (20_000, 1.0), (8_000, 0.5), (7_000, 0.0), (None, 0.0)]
)
def test_an_array_made_in_each_step_explains_as_many_pages_as_it_has(
    tmp_path: Path, kilobytes: int | None, share: float
) -> None:
    """4,000 pages, 16,000 KiB, in each of 300 steps; less than half of them tells nothing, nor an unknown size."""
    one = case(tmp_path, 1_200_000)
    weights = Weights("words", "kernel", (1, 1), 1.0, None if kilobytes is None else 1024 * kilobytes)

    assert new_pages.share_of(one, new_pages.of_training(one), weights) == pytest.approx(share)


@pytest.mark.parametrize(("ops", "share"), [(("aten::mul", "aten::sqrt"), 0.75), (("aten::mul_", "aten::add_"), 0.0)])
def test_an_update_that_makes_arrays_explains_their_pages(tmp_path: Path, ops: tuple[str, ...], share: float) -> None:
    """The gradient's 1,000 pages a step alone are a quarter; two operators make as many each, in place none."""
    kernels = [{"op": op, "category": "optimiser", "layer": "adam", "direction": "update", "ms": 5} for op in ops]
    counted = cpu((2.0, BEGIN), (8.0, {**BUSY, "faults_minor": 1_200_000, "rss_bytes": 2 * S}))
    tables = {**quiet(**counted), **runs.window(kernels), "memory_owners": [parameter("dense", "1000x1000")]}
    one = Case(runs.trained(tmp_path / "r", runs.manifest(process=PROCESS), **tables))
    weights = Weights("dense", "kernel", (1000, 1000), 1.0, 4096 * 1000)

    assert new_pages.share_of(one, new_pages.of_training(one), weights) == pytest.approx(share)


def test_time_beside_kernels_is_for_memory_that_is_given_back(tmp_path: Path) -> None:
    """Of 1 s of pages, kernels of 2 s have it inside of them already; the rest of the steps gets its part."""
    kernels = [{"op": "mm", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 10}]
    one = Case(runs.trained(tmp_path / "r", **{**quiet(), **runs.window(kernels)}))
    leaf = Tree.FIT_STEPS / StepPart.KERNELS / "matmul"
    takes = new_pages.beside_kernels(one, Tree.FIT_STEPS, {leaf: 2 * S}, S)

    beside = one.own(Tree.FIT_STEPS) - one.own(Tree.FIT_STEPS / StepPart.KERNELS)
    assert takes[leaf] == 2 * S
    assert sum(takes.values()) - 2 * S == pytest.approx(S * beside / (beside + 2 * S), rel=1e-6)


@pytest.mark.parametrize(("ms", "share"), [((15, 5), 0.75), ((5, 15), 0.0)])
def test_kernels_that_are_most_of_the_steps_touch_as_many_new_pages(
    tmp_path: Path, ms: tuple[int, int], share: float
) -> None:
    """Three quarters of all kernels; of a quarter nothing is said."""
    kernels = [{"op": op, "category": op, "layer": None, "direction": "forward", "ms": time}
               for op, time in zip(("reduction", "matmul"), ms, strict=True)]  # fmt: skip
    one = Case(runs.trained(tmp_path / "r", **{**quiet(), **runs.window(kernels)}))
    leaf = Tree.FIT_STEPS / StepPart.KERNELS / "reduction"

    assert new_pages.share_of_kernels(one, {leaf: one.own(leaf)}) == pytest.approx(share, rel=0.01)
