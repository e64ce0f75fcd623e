"""Cases of an exam for tests."""

from __future__ import annotations

from pathlib import Path

from dlprof.store.run import Run
from tests.unit import runs
from tests.unit.runs import S

GOOD = 'slug = "slow-callback"\nscript = "x.py"\nbackends = ["torch", "jax"]\n[fault]\narguments = ["--slow"]\nbeside = 2\n'


def truth(folder: Path, text: str) -> Path:
    """A folder with one truth file and a script."""
    (folder / "x.py").write_text("")
    (folder / "x.toml").write_text(text)
    return folder


def lasted(folder: Path, seconds: float) -> Run:
    """A run whose import and end take 4 s of so many."""
    told = runs.manifest(process={**runs.manifest()["process"], "wall_ns": round(seconds * S)})
    rows = runs.phases(fit_steps=seconds - 4, teardown=2)
    rows.append({"phase": "import", "parent": None, "dur_ns": 2 * S, "count": 1})
    return runs.trained(folder, told, phases=rows)
