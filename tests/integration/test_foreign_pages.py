"""Pages of foreign traces in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.cli import view
from tests.integration.shown_pages import show
from tests.unit.ingest.imports import imported
from tests.unit.test_foreign_traces import trace_files

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("path", [pytest.param(path, id=path.name) for path in trace_files()])
def test_the_page_of_a_trace_opens_without_an_error(browser: Any, tmp_path: Path, path: Path) -> None:
    """Nothing is said on the console, nothing is loaded."""
    run = imported(tmp_path, path)
    shown = show(browser, tmp_path, view.run_page(str(run.folder.path), rebuild=False))

    assert shown.said == []
    assert len(shown.asked_for) == 1
    shown.page.close()
