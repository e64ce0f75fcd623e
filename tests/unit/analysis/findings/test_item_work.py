"""Work on single rows that need not be done at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import Call, diagnosed, pick, sampled, slugs
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
