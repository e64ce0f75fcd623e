"""Problems and answers of an outside exam for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from dlprof.trials.outside.answers import Answer, Said
from dlprof.trials.outside.problems import Problem, Truth

TRUTH: dict[str, Any] = {
    "source": "https://example.org/questions/1",
    "cause": "the model is saved after each batch",
    "backend": "torch",
    "keras": True,
    "accept": ["checkpoint-heavy", "io-bound"],
    "line": [7, 8],
    "line_text": ["model.save(path)", "path = folder / name"],
    "true_fix": "save after each epoch",
    "fix_words": ["less often", "each epoch"],
    "dlperf": "API: inefficient API usage (also: not using batch API)",
    "seconds": {"buggy": 9.0, "fixed": 3.0},
}


def folder(path: Path, **truths: dict[str, Any]) -> Path:
    """A folder with problems; each differs from TRUTH by what is given."""
    for name in truths:
        (path / name).mkdir()
        for kind in ("buggy", "fixed"):
            (path / name / f"{kind}.py").write_text(f"print({kind!r})\n")
    (path / "truth.json").write_text(json.dumps({name: {**TRUTH, **changes} for name, changes in truths.items()}))
    return path


def problem(name: str = "saves", **changes: Any) -> Problem:
    """A problem that differs from TRUTH by what is given."""
    return Problem(name, msgspec.convert({**TRUTH, **changes}, Truth), Path("/nowhere") / name)


def said(slug: str, share: float = 0.3, *, line: int | None = None, at_stake_ns: int = 0, step: str = "") -> Said:
    """A finding; its file is buggy.py where it has a line."""
    return Said(slug, share, at_stake_ns, "buggy.py" if line else None, line, step)


def answer(*found: Said, **changes: Any) -> Answer:
    """An answer to the problem with these findings."""
    return Answer(changes.pop("problem", problem()), said=found, **changes)
