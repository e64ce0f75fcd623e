"""Planted leaks on real engines: found, with the line that keeps; the clean run of the same script is silent."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.integration import runner

pytestmark = pytest.mark.integration

SCRIPT = Path(__file__).parents[2] / "scenarios" / "leaks" / "leaky.py"


def growth(folder: Path, backend: str, leak: str) -> dict[str, Any] | None:
    """What is said of growth in a run with this leak; None: nothing."""
    shutil.copy(SCRIPT, folder / "leaky.py")
    flags = ("--backend", backend, "--cores-hz", "10", "--", "--leak", leak, "--steps", "1000")
    done = runner.trace("leaky.py", *flags, cwd=folder, env={"OMP_NUM_THREADS": "1"})  # threads that wait take a core
    assert done.code == 0, done.err
    content = runner.report(folder)
    assert content["memory"]["growth"] is not None, content["memory"]["not_measured"]
    return next((one for one in content["findings"] if one["slug"] == "memory-growth"), None)


def line_of(leak: str) -> int:
    """The line that keeps."""
    texts = SCRIPT.read_text().splitlines()
    return next(number for number, text in enumerate(texts, 1) if text.endswith(f"# KEEP {leak}"))


@pytest.mark.parametrize(("backend", "leak"), [("torch", "list"), ("jax", "dict")])
def test_a_leak_is_found_with_its_line(backend: str, leak: str, tmp_path: Path) -> None:
    """262,144 bytes with each step."""
    found = growth(tmp_path, backend, leak)

    assert found is not None
    assert (found["file"], found["line"]) == ("leaky.py", line_of(leak))
    assert "(1,000 times)" in found["claim"]


def test_the_clean_run_is_silent(tmp_path: Path) -> None:
    """As many steps of the same model."""
    assert growth(tmp_path, "torch", "none") is None
