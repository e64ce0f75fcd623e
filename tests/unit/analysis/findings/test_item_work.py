"""Work on single rows that need not be done at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.unit import runs
from tests.unit.analysis.findings.cases import Call, diagnosed, pick, sampled, slugs
from tests.unit.analysis.findings.loading import ASKS, passes, trained
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
