"""Work on files in sampled stacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings import file_work
from dlprof.analysis.findings.case import Case
from tests.unit import runs
from tests.unit.analysis.findings.cases import FIT, Call, keep_source, quiet, sampled

LINE: Call = ("log", "train.py", 1)


@pytest.mark.parametrize(
    ("above", "source", "stands"),
    [
        ([("savez_compressed", "numpy/lib/npyio.py", 700)], "np.savez_compressed(path, x)", True),
        ([("load", "numpy/lib/_npyio_impl.py", 400)], "np.load(path)", True),
        ([("median", "numpy/lib/function_base.py", 3816)], "np.median(losses)", False),
        ([("encode", "<python>/json/encoder.py", 200)], "text = json.dumps(row)", False),
        ([], "out.write(text)", True),
        ([], "total = sum(rows)", False),
        ([], "def load(path): time.sleep(1)", False),
        ([], "def load(path): return take(self.load(path), load(path))", False),
        ([], "def read(path): return open(path)", True),
        ([], "def read(path): return path.read(9)", True),
        (
            [("save_model", "keras/src/saving/saving_api.py", 9), ("write", "<python>/zipfile.py", 9)],
            "m.save(p)",
            False,
        ),
    ],
)
def test_a_library_for_files_or_the_text_of_the_line_tells(
    above: list[Call], source: str, stands: bool, tmp_path: Path
) -> None:
    """What Keras saves is a cause of its own."""
    run = runs.trained(tmp_path / "r", **quiet(**sampled((2, 8, [*FIT, LINE, *above]))))
    keep_source(run, source)
    case = Case(run)

    assert {file_work.stands_in(case, sample) for sample in case.code.samples} == {stands}


@pytest.mark.parametrize(("source", "is_written"), [("frame.to_csv(path)", True), ("rows = json.load(file)", False)])
def test_a_line_that_calls_what_writes_is_one_that_writes(source: str, is_written: bool, tmp_path: Path) -> None:
    """To read a file is none."""
    run = runs.trained(tmp_path / "r", **quiet())
    keep_source(run, source)

    assert file_work.writes(Case(run), ("train.py", 1)) == is_written
