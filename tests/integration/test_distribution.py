"""What a user gets who has no copy of the sources: the wheel and the source archive, built, looked at, installed, used."""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.metadata import Metadata
from readme_renderer import markdown

from dlprof import __version__
from dlprof.launch.data_folder import data_folder

ROOT = Path(__file__).parents[2]
STRAY = re.compile(r"(^|/)(tests?|__pycache__|node_modules|docs|dlprof_runs|\.[^/]*)/|\.pyc$|(^|/)\.[^/]+$|\.orig$|~$")
"""What has no place in a wheel."""

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]


def done(command: Sequence[str | Path], *, cwd: Path, env: dict[str, str] | None = None) -> str:
    """What a program prints that has to succeed."""
    ended = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env=env, timeout=400)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout + ended.stderr


def build(source: Path, target: Path, *kinds: str) -> None:
    """Build from a folder with sources."""
    wanted = [word for kind in kinds for word in ("-t", kind)]
    done([sys.executable, "-m", "hatchling", "build", "-d", target, *wanted], cwd=source)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both, as a release has them."""
    folder = tmp_path_factory.mktemp("dist")
    build(ROOT, folder, "wheel", "sdist")
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    """The wheel: one for all machines that Linux runs on."""
    return built / f"dlprof-{__version__}-py3-none-any.whl"


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Metadata:
    """What the wheel says of itself, validated as an index would."""
    with zipfile.ZipFile(wheel) as archive:
        return Metadata.from_email(archive.read(f"dlprof-{__version__}.dist-info/METADATA"), validate=True)


def names(wheel: Path) -> set[str]:
    """Files of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def tracked(*folders: str) -> set[str]:
    """Files of the sources, or all where there is no git."""
    listed = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return set(listed.stdout.split())
    return {path.relative_to(ROOT).as_posix() for folder in folders for path in (ROOT / folder).rglob("*.py")}


def test_all_that_a_user_needs_is_in_the_wheel(wheel: Path) -> None:
    """Every module, locks, templates, scenarios, the demo, the man page; and nothing that is of use to developers only."""
    inside = names(wheel)
    left_out = {".npmrc", "package.json", "package-lock.json", "entry.js"}
    wanted = {path for path in tracked("dlprof") if Path(path).name not in left_out}
    wanted |= {path.removeprefix("probes/") for path in tracked("probes/dlprof_probes")}
    wanted |= {f"dlprof/{path}" for path in tracked("scenarios") if not path.startswith("scenarios/outside/")}

    assert wanted - inside == set()
    assert {
        "dlprof/shipped/demo.zip",
        "dlprof/topics/glossary.md",
        "dlprof/scenarios/native/mlp_torch.py",
        f"dlprof-{__version__}.data/data/share/man/man1/dlprof.1",
    } <= inside
    assert sorted(path for path in inside if STRAY.search(path)) == []
    assert [path for path in inside if "scenarios/outside/" in path] == []
    assert {path.split("/")[0].removeprefix(f"dlprof-{__version__}.") for path in inside} == {
        "dlprof",
        "dlprof_probes",
        "data",
        "dist-info",
    }


def test_the_wheel_is_no_burden(wheel: Path) -> None:
    """It was 2.2 MB when this was written, and 3.3 with 100 findings: half of it is Python, a tenth each pages and locks."""
    assert wheel.stat().st_size < 3_600_000


def test_the_metadata_are_those_of_an_index(metadata: Metadata) -> None:
    """The version of the code, the licences, the command."""
    assert (str(metadata.version), metadata.license_expression) == (__version__, "Apache-2.0")
    assert str(metadata.requires_python) == ">=3.11"
    assert metadata.license_files is not None
    assert {Path(name).name for name in metadata.license_files} >= {
        "LICENSE",
        "NOTICE",
        "LICENSE-d3",
        "LICENSE-zrender",
    }
    assert {"Operating System :: POSIX :: Linux", "Typing :: Typed"} <= set(metadata.classifiers or ())
    assert {"notebook"} <= set(metadata.provides_extra or ())


def test_the_command_is_an_entry_point(wheel: Path) -> None:
    """Besides it there is the room for other packages' backends."""
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"dlprof-{__version__}.dist-info/entry_points.txt").decode()

    assert "[console_scripts]\ndlprof = dlprof.__main__:program\n" in text


def test_the_description_can_be_shown(metadata: Metadata) -> None:
    """The renderer of the Python Package Index makes HTML of it."""
    assert metadata.description_content_type == "text/markdown"
    assert metadata.description

    page = markdown.render(metadata.description)

    assert page is not None
    assert "<h1" in page
    assert "dlprof trace train.py" in page


def test_the_wheel_can_be_built_from_the_source_archive(built: Path, wheel: Path, tmp_path: Path) -> None:
    """It is the same, file by file; tests and what the README's second command reads are there, too."""
    with tarfile.open(built / f"dlprof-{__version__}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    source = tmp_path / f"dlprof-{__version__}"
    there = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}
    build(source, tmp_path / "again", "wheel")

    assert names(tmp_path / "again" / wheel.name) == names(wheel)
    assert {"LICENSE", "README.md", "CHANGELOG.md", ".ci/requirements-dev.txt", "tests/conftest.py"} <= there
    assert [path for path in there if re.search(r"__pycache__|\.venv|\b_build/|dlprof_runs|_cache/", path)] == []
    assert email.message_from_bytes((source / "PKG-INFO").read_bytes())["Version"] == __version__


@dataclass(frozen=True)
class Installed:
    """dlprof in an environment of its own, and a user without anything."""

    bin: Path
    home: Path

    def run(self, *words: str, **more: str) -> str:
        """What `dlprof WORDS` prints, from the user's home."""
        environment = {"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(self.home), "LANG": "C.UTF-8", **more}
        return done([self.bin / "dlprof", *words], cwd=self.home, env=environment)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel, installed by pip into an empty environment."""
    folder = tmp_path_factory.mktemp("user")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    done([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel], cwd=folder, env=dict(os.environ))
    (folder / "home").mkdir()
    return Installed(python.parent, folder / "home")


def test_a_user_without_the_sources_gets_everything(installed: Installed) -> None:
    """Version, demo, a script of her own, topics, the man page."""
    (installed.home / "train.py").write_text("print(sum(range(100_000)))\n")

    assert installed.run("--version") == f"dlprof {__version__}\n"
    assert "slower" in installed.run("demo")
    told = installed.run("trace", "train.py")
    assert told.startswith("4999950000\n")
    assert "train.py" in installed.run("report", "last", "lines")
    assert "Exit codes" in installed.run("help", "exit-codes")
    assert (installed.bin.parent / "share" / "man" / "man1" / "dlprof.1").is_file()
    assert sorted(path.name for path in installed.home.iterdir() if not path.name.startswith(".")) == [
        "dlprof-demo",
        "dlprof_runs",
        "train.py",
    ]


@pytest.mark.backend("mxnet")
def test_the_first_command_of_the_readme_works_without_the_sources(installed: Installed) -> None:
    """Once the scenario is copied, as the message says that is shown before."""
    words = ("trace", "scenarios/mlp.py", "--backend", "mxnet", "-o", "mlp", "--", "--samples", "512", "--epochs", "1")
    kept = {"DLPROF_DATA": str(data_folder())}  # its environment is made once for all tests

    installed.run("scenarios", "copy", "mlp")
    told = installed.run(*words, **kept)

    assert "epoch 1 loss" in told
    assert "mlp.py" in installed.run("lines", "mlp")
