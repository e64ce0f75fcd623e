"""The JavaScript of others that is carried here is what was built of what a lock names, byte by byte."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[4]
PAGES = ROOT / "dlprof" / "report" / "html" / "assets" / "echarts"
AXE = ROOT / "tests" / "axe"
both = pytest.mark.parametrize("folder", [PAGES, AXE], ids=["echarts", "axe"])


@both
def test_what_is_carried_and_what_it_was_built_of_are_those_that_were_looked_at(folder: Path) -> None:
    """Whoever builds it anew writes new sums: a change of the minified file alone is seen."""
    sums = _sums(folder)

    assert {name: hashlib.sha256(_bytes(folder, name)).hexdigest() for name in sums} == sums


def test_sums_are_there_for_all_that_the_build_reads_and_makes() -> None:
    """A file that the build depends on cannot change unseen."""
    assert set(_sums(PAGES)) == {"echarts.min.js", "entry.js", "package.json", "package-lock.json"}
    assert set(_sums(AXE)) == {"axe.min.js"}


def test_no_minified_file_lies_anywhere_without_a_lock() -> None:
    """A further library that is carried needs a lock, sums and a rebuild, too."""
    found = {path for room in ("dlprof", "probes", "tests", "docs") for path in (ROOT / room).rglob("*.min.*")}

    assert {
        path.relative_to(ROOT).as_posix() for path in found if not {"node_modules", "_build"} & set(path.parts)
    } == {
        "dlprof/report/html/assets/echarts/echarts.min.js",
        "tests/axe/axe.min.js.gz",
    }


@both
def test_a_lock_pins_every_package_by_version_and_by_a_hash_of_512_bits(folder: Path) -> None:
    """Npm refuses an archive with another hash."""
    for name, package in _packages(folder).items():
        kind, _, digest = package["integrity"].partition("-")
        assert (kind, len(base64.b64decode(digest))) == ("sha512", 64), name
        assert package["version"], name


@both
def test_a_lock_is_of_the_versions_that_are_asked_for(folder: Path) -> None:
    """A version that is changed in one of the two alone would be built by nobody."""
    wanted = json.loads((folder / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    locked = _packages(folder)

    assert {name: locked[f"node_modules/{name}"]["version"] for name in wanted} == wanted


@both
def test_a_lock_names_no_host(folder: Path) -> None:
    """Packages come from the registry that npm is set to."""
    text = (folder / "package-lock.json").read_text(encoding="utf-8")

    assert "://" not in text
    assert "resolved" not in text


def test_every_package_in_the_build_has_its_licence_beside_it() -> None:
    """Esbuild and its programs build; all others of the lock are in the file that is handed out."""
    inside = {name.removeprefix("node_modules/") for name in _packages(PAGES) if "esbuild" not in name}

    assert inside == {"echarts", "tslib", "zrender"}
    assert {path.name for path in PAGES.glob("LICENSE*")} == {
        "LICENSE",
        "LICENSE-d3",
        "LICENSE-tslib",
        "LICENSE-zrender",
    }


def _sums(folder: Path) -> dict[str, str]:
    lines = (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split() for line in lines)}


def _bytes(folder: Path, name: str) -> bytes:
    plain = folder / name
    return plain.read_bytes() if plain.is_file() else gzip.decompress((folder / f"{name}.gz").read_bytes())


def _packages(folder: Path) -> dict[str, dict[str, Any]]:
    lock = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))
    return {name: package for name, package in lock["packages"].items() if name}
