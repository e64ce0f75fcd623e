"""Reads and writes that hold the training up."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings import diagnose
from tests.unit import runs
from tests.unit.analysis.findings.cases import (
    FIT,
    KERNELS,
    Call,
    Planted,
    cpu,
    diagnosed,
    keep_source,
    parts,
    pick,
    sampled,
    slugs,
    waiting_for_input,
)
from tests.unit.runs import MS, S

_READS = cpu(
    (2.5, {"io_calls": 0, "read_bytes": 0, "write_bytes": 0}),
    (7.5, {"io_calls": 9000, "read_bytes": 10**8, "write_bytes": 0}),
)


def planted() -> Planted:
    """2 s between the steps in numpy's reader, and reads by the thousand."""
    calls = [*FIT, ("__getitem__", "train.py", 21), ("load", "numpy/lib/npyio.py", 4)]
    return Planted(waiting_for_input(**sampled((6, 8, calls)), **_READS))


def test_files_that_hold_the_input_up_are_io(tmp_path: Path) -> None:
    """The same wait, with reads by the thousand and stacks in numpy's reader."""
    diagnosis = planted().diagnosis(tmp_path)

    assert slugs(diagnosis) == ["io-bound"]
    assert pick(diagnosis, "io-bound").at_stake_ns == 2 * S


def test_archives_of_hdf5_are_read_in_chunks(tmp_path: Path) -> None:
    """Their file is open already."""
    calls: list[Call] = [*FIT, ("__getitem__", "train.py", 21), ("__getitem__", "h5py/_hl/dataset.py", 4)]
    finding = pick(diagnosed(tmp_path / "r", **waiting_for_input(**sampled((6, 8, calls)), **_READS)), "io-bound")

    assert "a whole chunk for each row" in finding.next_step
    assert finding.fix is not None
    assert "rows = f['x'][:] once" in finding.fix


def test_files_that_another_thread_reads_are_what_its_batches_are_waited_for(tmp_path: Path) -> None:
    """Three quarters of its work reads: as much of the 3 s between the steps."""
    reads: list[Call] = [("__getitem__", "train.py", 21), ("load", "numpy/lib/npyio.py", 4)]
    stood = sampled((6, 8, [*FIT, ("__next__", "keras/src/iterator.py", 3)]), (6, 7.5, reads), (7.5, 8, reads[:1]))
    for row in stood["stacks"][1:]:
        row["thread"] = "feeder"
    intervals = runs.intervals(("import", 0, 2), ("fit.steps", 2, 5), ("fit.input", 5, 8), ("teardown", 8, 10))
    waits = {"phases": parts(fit_steps=3, fit_input=3, teardown=2), "phase_intervals": intervals}
    finding = pick(diagnosed(tmp_path / "r", **{**waiting_for_input(**stood, **_READS), **waits}), "io-bound")

    assert finding.at_stake_ns == pytest.approx(2.25 * S, rel=0.01)
    assert finding.line == 21


def test_what_keras_saves_is_no_work_on_files(tmp_path: Path) -> None:
    """A callback that reads for 0.2 s, and saves the model for 0.8 s with files of Keras and of h5py."""
    called = [*FIT, ("on_epoch_end", "keras/src/callbacks/callback_list.py", 9), ("on_epoch_end", "train.py", 33)]
    saving = [*called, ("save_weights", "keras/src/saving/saving_api.py", 5), ("write", "h5py/_hl/dataset.py", 6)]
    stood = sampled((7, 7.2, [*called, ("load", "numpy/lib/npyio.py", 4)]), (7.2, 8, saving))

    diagnosis = diagnosed(tmp_path / "r", **stood, **_READS, **runs.window(KERNELS))

    assert pick(diagnosis, "io-bound").at_stake_ns == 200 * MS


def test_what_callbacks_write_is_written_less_often_and_not_kept_open_for_batches(tmp_path: Path) -> None:
    """All of it is theirs; before, the advice was that for input."""
    called = [*FIT, ("on_batch_end", "keras/src/callbacks/callback_list.py", 9), ("on_batch_end", "train.py", 33)]
    stood = sampled((7, 8, [*called, ("dump", "<python>/json/__init__.py", 4), ("save", "numpy/lib/npyio.py", 4)]))
    finding = pick(diagnosed(tmp_path / "r", **stood, **_READS, **runs.window(KERNELS)), "io-bound")

    assert finding.fix == "keep the values in a list, and write them in on_epoch_end"
    assert finding.next_step.startswith("Write once an epoch")


def test_numbers_that_are_written_as_text_are_told_a_format_of_their_own(tmp_path: Path) -> None:
    """A callback exports an array with `np.savetxt`; before, to write it less often was all that was said."""
    called = [*FIT, ("on_epoch_end", "keras/src/callbacks/callback_list.py", 9), ("on_epoch_end", "train.py", 33)]
    stood = sampled((7, 8, [*called, ("savetxt", "numpy/lib/_npyio_impl.py", 1395)]))
    finding = pick(diagnosed(tmp_path / "r", **stood, **_READS, **runs.window(KERNELS)), "io-bound")

    assert str(finding.fix).startswith("np.save(path, array)")
    assert finding.next_step.startswith("Numbers are made into text")


@pytest.mark.parametrize(
    ("source", "is_io"),
    [
        ('    file.write(",".join("%.4f" % value for value in row))', False),
        ("    rows = list(file.read(size) for size in sizes)", True),
        ("    file.write(text)", True),
    ],
)
def test_what_makes_the_text_that_is_written_works_on_no_file(source: str, is_io: bool, tmp_path: Path) -> None:
    """2 s of the input in a generator expression of line 21; the third has none there."""
    inside = ("written.<locals>.<genexpr>" if " for " in source else "written", "train.py", 21)
    tables = waiting_for_input(**sampled((6, 8, [*FIT, ("__getitem__", "train.py", 20), inside])), **_READS)
    run = runs.trained(tmp_path / "r", **tables)
    keep_source(run, "\n" * 20 + source + "\n")

    assert ("io-bound" in slugs(diagnose.diagnose(run))) == is_io


def test_what_is_read_while_importing_is_none_of_the_training(tmp_path: Path) -> None:
    """Ten thousand calls up to the first step, ten in the 6 s from there on, in which a line called `load` stands."""
    calls = [*FIT, ("__getitem__", "train.py", 21), ("load", "numpy/lib/npyio.py", 4)]
    read = cpu(
        (0.5, {"io_calls": 0, "read_bytes": 0, "write_bytes": 0}),
        (2.0, {"io_calls": 10_000, "read_bytes": 10**9, "write_bytes": 0}),
        (8.0, {"io_calls": 10_010, "read_bytes": 10**9, "write_bytes": 0}),
    )

    assert "io-bound" not in slugs(diagnosed(tmp_path / "r", **waiting_for_input(**sampled((6, 8, calls)), **read)))
