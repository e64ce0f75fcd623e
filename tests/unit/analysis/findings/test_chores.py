"""What lines of a loop do beside the training."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings import chores
from dlprof.analysis.findings.case import Case
from dlprof.schema.vocabulary import Tree
from tests.unit import runs
from tests.unit.analysis.findings.cases import FIT, Call, quiet, sampled

LINE = ("train.py", 7)


def case(path: Path, *calls: Call, source: str = "pass") -> Case:
    """A run whose line 7 has these frames above it, for two of three seconds."""
    base: list[Call] = FIT[:1]
    run = runs.trained(path / "r", **quiet(**sampled((2, 4, [*base, *calls]), (4, 5, base))))
    kept = run.folder.raw / "sources" / "train.py"
    kept.parent.mkdir(exist_ok=True)
    kept.write_text("\n" * 6 + source + "\n")
    return Case(run)


@pytest.mark.parametrize(
    ("file", "what"),
    [
        ("matplotlib/figure.py", "Figures are drawn"),
        ("torch/utils/tensorboard/writer.py", "Logs are written"),
        ("torch/serialization.py", "Data are packed, saved or loaded"),
        ("sklearn/metrics/_ranking.py", "Scores and tables are computed by a library on the host"),
        ("PIL/Image.py", "Images or sounds are decoded and changed"),
    ],
)
def test_libraries_on_the_stack_tell_what_a_line_does(tmp_path: Path, file: str, what: str) -> None:
    """The innermost of them that is known."""
    made = case(tmp_path, ("f", file, 3), ("g", "numpy/core.py", 1))

    found = chores.of_line(made, LINE, [Tree.FIT_STEPS])

    assert found is not None
    assert found.what == what


def test_what_leaves_no_frame_is_told_by_the_text_of_the_line(tmp_path: Path) -> None:
    """With the API of this engine."""
    found = chores.of_line(case(tmp_path, source="x = torch.tensor(frames)"), LINE, [Tree.FIT_STEPS])

    assert found is not None
    assert (found.what, found.fix) == (
        "Data are converted to tensors",
        "torch.from_numpy(np.stack(rows)) in place of torch.tensor(rows)",
    )


def test_other_lines_do_nothing_that_is_known(tmp_path: Path) -> None:
    """Also where there is no line, and where a known library stood for less than half."""
    assert chores.of_line(case(tmp_path), LINE, [Tree.FIT_STEPS]) is None
    assert chores.of_line(case(tmp_path / "b"), None, [Tree.FIT_STEPS]) is None
    assert chores.of_line(case(tmp_path / "c", ("f", "PIL/Image.py", 3)), LINE, [Tree.SCRIPT]) is None
