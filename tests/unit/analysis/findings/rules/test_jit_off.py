"""Models that are not compiled though their engine lives by it."""

from __future__ import annotations

from pathlib import Path

from tests.unit import runs
from tests.unit.analysis.findings.cases import SMALL, Planted, diagnosed, on, quiet, slugs


def planted() -> Planted:
    """`jit_compile=False` on JAX."""
    return Planted(quiet(spans=[runs.fit_span(training={"jit_compile": False})], **runs.window(SMALL)), on("jax"))


def test_jax_without_its_compiler_is_named(tmp_path: Path) -> None:
    """`jit_compile=False`."""
    tables = quiet(spans=[runs.fit_span(training={"jit_compile": False})], **runs.window(SMALL))

    assert "jit-off" in slugs(diagnosed(tmp_path / "r", on("jax"), **tables))
    assert "jit-off" not in slugs(diagnosed(tmp_path / "s", on("tensorflow"), **tables))
