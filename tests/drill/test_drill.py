"""An engine that dlprof does not know is added by a package of its own (`plugin/`), through entry points alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.integration

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WORDS = ("abacus", "audit-on")
FLAGS = (
    "--probes=-lines",
    "--no-report",
    "--budget",
    "off",
)  # counting lines would fetch line_profiler into a new data folder


def installed(folder: Path) -> Path:
    """The package as an installer would leave it: its files, and what says its entry points."""
    told = tomllib.loads((HERE / "plugin" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    facts = folder / f"{told['name'].replace('-', '_')}-{told['version']}.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {told['name']}\nVersion: {told['version']}\n")
    groups = told["entry-points"].items()
    lines = [f"[{group}]\n" + "".join(f"{name} = {home}\n" for name, home in names.items()) for group, names in groups]
    (facts / "entry_points.txt").write_text("\n".join(lines))
    return folder


@dataclass
class User:
    """Someone who has the package installed beside dlprof."""

    folder: Path

    def dlprof(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A command of dlprof."""
        path = os.pathsep.join([str(self.folder / "site"), str(HERE / "plugin"), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "PYTHONPATH": path.rstrip(os.pathsep), "DLPROF_DATA": str(self.folder / "data")}
        command = [sys.executable, "-m", "dlprof", *arguments]
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)

    def asked(self, *arguments: str) -> Any:
        """A command that prints JSON."""
        done = self.dlprof(*arguments)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> User:
    """One whose script was traced on the new backend."""
    folder = tmp_path_factory.mktemp("drill")
    installed(folder / "site")
    someone = User(folder)
    done = someone.dlprof("trace", str(HERE / "train.py"), "--backend", "abacus", "-o", "run", *FLAGS)
    assert (done.returncode, done.stdout) == (0, "weights 0.969029 0.969029\n"), done.stderr
    return someone


@pytest.fixture(scope="module")
def report(user: User) -> Any:
    """The run's report."""
    return user.asked("report", "run", "--json")


def test_nothing_in_dlprof_knows_the_engine() -> None:
    """Neither its name nor that of its rule."""
    files = [*(ROOT / "dlprof").rglob("*.py"), *(ROOT / "probes").rglob("*.py")]

    assert not [file for file in files if any(word in file.read_text(encoding="utf-8").lower() for word in WORDS)]


def test_nothing_was_passed_over(report: Any) -> None:
    """No probe, reader or plug-in failed."""
    states = {probe["name"]: probe["state"] for probe in report["probes"]}

    assert (states["phases"], states["kernels"]) == ("on", "on")
    assert [line for line in report["health"] if line["severity"] != "info"] == []


def test_the_run_says_what_it_ran_on(report: Any) -> None:
    """Name and version come from the engine itself."""
    assert (report["backend"], report["engine"]) == ("abacus", {"name": "abacus", "version": "1.4"})


def test_the_wall_time_is_cut_into_phases(report: Any) -> None:
    """Making the trainer, planning for two sizes of batches, steps; nothing is left over."""
    phases = {phase["name"]: phase for phase in report["phases"]}

    assert {"import", "construct", "fit", "fit.steps", "fit.graph_compile"} <= phases.keys()
    assert phases["fit.graph_compile"]["dur_ns"] > 2 * 30_000_000
    assert report["unattributed_ns"] == 0


def test_every_step_is_counted(report: Any) -> None:
    """31 batches in each of 3 epochs."""
    assert (report["steps"]["loop"], report["steps"]["count"]) == ("train", 93)
    assert [epoch["steps"] for epoch in report["epochs"]] == [31, 31, 31]


def test_the_second_size_of_batches_is_told_as_the_cause_of_another_plan(report: Any) -> None:
    """As the signature of the engine's hook has it."""
    (again,) = report["recompilations"]

    assert (again["argument"], again["what"], again["before"], again["now"]) == ("rows", "shape", "int[8]", "int[2]")


def test_kernels_have_layers_and_directions(user: User) -> None:
    """Ten steps of the window: each operation once per layer and step, first among them the slowest."""
    rows = user.asked("kernels", "run", "--json")["rows"]
    told = {(row["layer"], row["direction"], row["op"]): row["count"] for row in rows}

    assert told == {
        ("first", "forward", "add"): 10,
        ("first", "forward", "audit"): 10,
        ("first", "backward", "carry"): 10,
        ("second", "forward", "add"): 10,
        ("second", "forward", "audit"): 10,
        ("second", "backward", "carry"): 10,
    }


def test_the_rule_finds_its_cause(user: User) -> None:
    """A third of the kernels is the audit's; the time is claimed like that of any other rule."""
    found = user.asked("diagnose", "run", "--json")
    (audit,) = [finding for finding in found["findings"] if finding["slug"] == "audit-on"]

    assert audit["claim"].startswith("Abacus audits every sum: ")
    report = user.asked("report", "run", "--json")
    (steps,) = [phase for phase in report["phases"] if phase["name"] == "fit.steps"]
    assert 0 < audit["at_stake_ns"] <= steps["dur_ns"]  # of the steps' time; one may stand still for long
    assert audit["evidence"][0]["rows"][0]["op"] == "audit"


def test_its_files_can_be_imported_by_their_content(user: User) -> None:
    """The same reader and the same attribution serve foreign traces."""
    (file,) = (user.folder / "run" / "raw" / "kernels").glob("window-000/*.abacus")

    done = user.dlprof("import", str(file), "-o", "imported")

    assert done.returncode == 0, done.stderr
    assert "Abacus' profiler (text)" in done.stderr + done.stdout
    rows = user.asked("kernels", "imported", "--json")["rows"]
    assert {row["layer"] for row in rows} == {"first", "second"}


def test_a_stranger_without_the_package_is_told_what_is_missing(user: User) -> None:
    """The run opens where nobody knows the engine; its kernels are said to be missing when it is read anew."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")

    done = subprocess.run(
        [sys.executable, "-m", "dlprof", "report", "run", "--rebuild", "--json"],
        cwd=user.folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["steps"]["count"] == 93
    assert any("abacus" in line["message"] for line in told["health"])
    user.asked("report", "run", "--rebuild", "--json")  # and whole again, for who has it
