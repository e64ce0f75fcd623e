"""Fixtures of tests with real programs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.backends import impossible

_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(autouse=True, scope="session")
def waiting_threads_sleep() -> Iterator[None]:
    """Threads of engines that wait for work sleep: there are more of them than cores, and they would take these."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_WAIT_POLICY", "passive")
        yield


@pytest.fixture(autouse=True)
def _possible(request: pytest.FixtureRequest) -> None:
    """Skip, and say why, where the backend of a test cannot be had."""
    backend = getattr(request.node, "callspec", None) and request.node.callspec.params.get("backend")
    reason = impossible(backend) if backend else None
    if reason:
        pytest.skip(reason)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium of this machine; it ends with the module: later tests look at the children that they have."""
    programs = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    program = next((one for one in programs if one), None)
    if program is None:
        pytest.skip("no Chromium is installed (apt-get install chromium)")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=program, args=_FLAGS)
        yield made
        made.close()
