"""The JavaScript of others is built again from its lock, and is the same."""

from __future__ import annotations

import gzip
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INPUTS = (".npmrc", "entry.js", "package.json", "package-lock.json")
NO_REGISTRY = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH", "ERR_SOCKET_TIMEOUT")

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


@pytest.mark.parametrize(
    ("folder", "made"),
    [("dlprof/report/html/assets/echarts", "echarts.min.js"), ("tests/axe", "axe.min.js.gz")],
    ids=["echarts", "axe"],
)
def test_a_build_from_the_lock_is_what_is_carried(folder: str, made: str, tmp_path: Path) -> None:
    """Nobody put anything else into the minified file; npm checks the hash of each archive."""
    _copy(ROOT / folder, tmp_path)
    _install(tmp_path)
    _npm(tmp_path, "run", "build").check_returncode()

    assert _plain(tmp_path / made) == _plain(ROOT / folder / made)


def _copy(source: Path, target: Path) -> None:
    for name in INPUTS:
        if (source / name).is_file():
            shutil.copy(source / name, target / name)


def _install(folder: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    done = _npm(folder, "ci")
    if any(code in done.stderr for code in NO_REGISTRY):
        pytest.skip("npm reaches no registry")
    assert done.returncode == 0, done.stderr


def _npm(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["npm", *arguments], cwd=folder, capture_output=True, text=True, check=False)


def _plain(path: Path) -> bytes:
    """Without the compression, which differs from one gzip to the next."""
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
