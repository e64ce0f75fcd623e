"""The table of formats, the modules that write them, and their pages."""

from __future__ import annotations

import importlib
from pathlib import Path

from dlprof.export.formats import FORMATS, SERVICES

DOCS = Path(__file__).parents[3] / "docs"


def test_every_format_has_its_writer_and_its_section() -> None:
    """The table, the modules and docs/exporting.md agree."""
    text = (DOCS / "exporting.md").read_text(encoding="utf-8")

    for name, one in FORMATS.items():
        assert callable(importlib.import_module(f"dlprof.export.{one.module}").write)
        assert f"\n## {name}\n" in text


def test_every_service_has_its_sender_and_its_section() -> None:
    """And an extra, or needs none."""
    text = (DOCS / "exporting.md").read_text(encoding="utf-8")

    for name, one in SERVICES.items():
        assert callable(importlib.import_module(f"dlprof.export.{one.module}").send)
        assert f"\n## {name}\n" in text
