"""Work on single rows that need not be done at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import item_work
from dlprof.analysis.findings.case import Case
from tests.unit import runs
from tests.unit.analysis.findings.cases import Call, diagnosed, on, pick, sampled, slugs
from tests.unit.analysis.findings.loading import ASKS, FETCH, passes, processes, stood, trained
from tests.unit.runs import S

_ALONE: dict[str, Any] = {"workers": 0, "persistent": None, "queue": None, "waited_ns": S}
_MEMBER: Call = ("NpzFile.__getitem__", "numpy/lib/_npyio_impl.py", 257)
_READS: Call = ("read_array", "numpy/lib/_format_impl.py", 869)


def test_an_archive_that_is_unpacked_for_each_row_gets_no_workers(tmp_path: Path) -> None:
    """They would only share out what need not be done; false before: `too-few-workers` came first."""
    tables = trained([20], loaders=passes(**_ALONE), **sampled((2, 5, [*ASKS, _MEMBER, _READS])))
    diagnosis = diagnosed(tmp_path / "r", **tables)

    assert slugs(diagnosis)[0] == "input-bound"
    assert (
        "A whole array of an .npz archive is read and unpacked for each row at line 21" in diagnosis.findings[0].claim
    )
    assert str(diagnosis.findings[0].fix).startswith("data = dict(np.load(path)) once")


def test_an_archive_of_its_own_for_each_row_is_work_for_workers(tmp_path: Path) -> None:
    """It is opened there, too."""
    opened: Call = ("load", "numpy/lib/_npyio_impl.py", 400)
    tables = trained([20], loaders=passes(**_ALONE), **sampled((2, 5, [*ASKS, opened, _MEMBER, _READS])))

    assert "too-few-workers" in slugs(diagnosed(tmp_path / "r", **tables))


def test_operations_of_the_engine_on_single_rows_are_named(tmp_path: Path) -> None:
    """Arrays of MXNet, row by row."""
    told = runs.manifest(engine={"name": "mxnet", "version": "1.9.1"}, keras=None)
    stands = sampled((2, 5, [*ASKS, ("moveaxis", "mxnet/ndarray/ndarray.py", 3429)]))
    tables = trained([20], loaders=passes(**_ALONE, kind="Gluon DataLoader"), **stands)

    assert (
        "Rows are changed one by one with operations of the engine"
        in pick(diagnosed(tmp_path / "r", told, **tables), "input-bound").claim
    )


def asynchronous(ms: float) -> Any:
    """Rows that MXNet changes later than it is asked to, for so long each; of the script's 3 s in `asscalar()`."""
    told = {**on("mxnet", asynchronous=True), "syncs_of": ["mxnet"]}
    stands = sampled((2, 5, [*ASKS, ("moveaxis", "mxnet/ndarray/ndarray.py", 3429)]))
    asked = {"what": "asscalar()", "file": "train.py", "line": 30, "calls": 3, "start_ns": 2 * S, "end_ns": 8 * S,
             "dur_ns": 3 * S}  # fmt: skip
    hue = [{"op": "_image_random_hue", "category": "random", "ms": ms}] * 4
    window = runs.window([*hue, {"op": "Convolution", "category": "conv", "ms": 4 * ms}])
    for row in window["kernel_ops"]:
        row["op_id"] = min(row["op_id"], 4)
    loader = passes(**_ALONE, kind="Gluon DataLoader", batch_size=4)
    span = runs.fit_span(how="inferred", batch_size=4)
    return told, trained([20], loaders=loader, spans=[span], syncs=[asked], **stands, **window)


def test_waits_for_values_are_for_the_rows_that_the_engine_still_changes(tmp_path: Path) -> None:
    """Half of its operators are of single rows: half of what `asscalar()` waits for, beside the waits for batches."""
    told, tables = asynchronous(0.05)
    case = Case(runs.held(tmp_path / "r", told, **tables))

    assert sum(item_work.queued(case).values()) == pytest.approx(1.5 * S, rel=0.01)


@pytest.mark.parametrize(("ms", "title"), [(0.05, "ran operations"), (2.0, "ran long operations")])
def test_operations_that_take_long_are_no_matter_of_starting_them(ms: float, title: str, tmp_path: Path) -> None:
    """Of 2 ms each: less is to be done in them."""
    told, tables = asynchronous(ms)

    found = pick(diagnosed(tmp_path / "r", told, **tables), "input-bound").title
    assert found is not None and found.text.startswith(f"The input {title}")


@pytest.mark.parametrize(("direction", "is_told"), [(None, True), ("backward", False)])
def test_operations_on_rows_that_no_stack_met_are_told_by_the_kernels(
    tmp_path: Path, direction: str | None, is_told: bool
) -> None:
    """To ask for them takes no time; where as many go back they are the model's, which goes through time."""
    told, tables = asynchronous(0.6)
    tables = {**tables, **sampled((2, 5, ASKS[:1]))}
    for row in tables["kernel_ops"]:
        row["direction"] = direction
    found = [one.title.text for one in diagnosed(tmp_path / "r", told, **tables).findings if one.title]

    assert any("long operations on single rows" in text for text in found) == is_told


_ASKED: list[Call] = [
    ("_callmethod", "<python>/multiprocessing/managers.py", 819),
    ("_recv", "<python>/multiprocessing/connection.py", 395),
]


@pytest.mark.parametrize(("share", "is_told"), [(0.6, True), (0.2, False)])
def test_workers_that_ask_a_manager_for_what_they_need_are_told_to_keep_it(
    share: float, is_told: bool, tmp_path: Path
) -> None:
    """Of nine tenths of their time in which they make rows, they stand so long in messages to its process."""
    asks, makes = stood((share, [*FETCH, *_ASKED])), stood((0.9 - share, FETCH))
    for row in (*makes["stacks"], *makes["frames"]):
        row["stack_id"] += 10
    both = {name: [*asks[name], *makes[name]] for name in asks}
    tables = trained([20], processes=processes(0.5), loaders=passes(workers=1), **both)
    finding = pick(diagnosed(tmp_path / "r", **tables), "input-bound")

    assert ("Rows ask the process of a multiprocessing.Manager for what they need" in finding.claim) is is_told
