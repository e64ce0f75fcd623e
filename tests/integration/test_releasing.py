"""What docs/releasing.md says is done, on a copy of the sources; nothing is uploaded."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = (
    "dlprof", "probes", "scenarios", "docs", ".ci", "CHANGELOG.md", "README.md", "LICENSE", "pyproject.toml", "hatch_build.py",
)  # fmt: skip
RELATIVE = re.compile(r"\]\((?!https?://|mailto:|#)")

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources, at a place where they may be changed."""
    target = tmp_path_factory.mktemp("release")
    unwanted = shutil.ignore_patterns("__pycache__", "_build", "generated", "node_modules")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target / name, ignore=unwanted)
        else:
            shutil.copy(ROOT / name, target / name)
    return target


def release(folder: Path, version: str) -> subprocess.CompletedProcess[str]:
    """`.ci/release VERSION`, by the Python of the tests."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8", "PYTHON": sys.executable}
    command = ["bash", ".ci/release", version]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_a_release_is_made_ready(copied: Path) -> None:
    """Version, changelog, man page; both archives bear it, and the checks of the index's own tool are passed."""
    before = (copied / "CHANGELOG.md").read_text()

    done = release(copied, "9.8.7")

    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.name for path in (copied / "dist").iterdir()) == [
        "dlprof-9.8.7-py3-none-any.whl",
        "dlprof-9.8.7.tar.gz",
    ]
    assert done.stdout.count("PASSED") == 2
    after = (copied / "CHANGELOG.md").read_text()
    assert re.search(r"^## Unreleased\n\n## 9\.8\.7 - \d{4}-\d\d-\d\d\n\n### ", after, re.MULTILINE)
    assert len(after.splitlines()) == len(before.splitlines()) + 2
    assert "9.8.7" in (copied / "docs" / "dlprof.1").read_text()
    with zipfile.ZipFile(copied / "dist" / "dlprof-9.8.7-py3-none-any.whl") as wheel:
        told = wheel.read("dlprof-9.8.7.dist-info/METADATA").decode()
    assert RELATIVE.findall(told) == []


@pytest.mark.parametrize(("version", "said"), [("one", "one is no version."), ("", "usage: .ci/release VERSION")])
def test_what_is_no_version_changes_nothing(copied: Path, version: str, said: str) -> None:
    """One sentence."""
    before = (copied / "dlprof" / "version.py").read_text()

    done = release(copied, version) if version else subprocess.run(
        ["bash", ".ci/release"], cwd=copied, capture_output=True, text=True, check=False
    )  # fmt: skip

    assert done.returncode != 0
    assert said in done.stderr
    assert (copied / "dlprof" / "version.py").read_text() == before


def hook() -> ModuleType:
    """The build's own hook."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["hatch_build"] = module
    spec.loader.exec_module(module)
    return module


def test_links_of_the_readme_lead_to_the_tag_of_the_version() -> None:
    """Files as the forge shows them, pictures raw; what leads elsewhere stays. Without an address they are text."""
    text = "[a](docs/a.md#b) ![p](docs/_static/p.png) [c](https://example.org/c) [d](#d)"

    assert hook().for_index(text, "https://example.org/me/dlprof/", "1.2") == (
        "[a](https://example.org/me/dlprof/blob/v1.2/docs/a.md#b) ![p](https://example.org/me/dlprof/raw/v1.2/docs/_static/p.png) "
        "[c](https://example.org/c) [d](#d)"
    )
    assert hook().for_index(text, None, "1.2") == "a  [c](https://example.org/c) [d](#d)"


def test_every_relative_link_of_the_readme_leads_to_a_file_of_the_sources() -> None:
    """So that the absolute ones do, at the tag."""
    found = re.findall(r"\]\((?!https?://|mailto:|#)([^)#\s]+)", (ROOT / "README.md").read_text(encoding="utf-8"))

    assert len(found) > 20
    assert [target for target in found if not (ROOT / target).exists()] == []
