"""The steps of the action, run by bash as GitHub's runner would, on a small repository; only pip is left out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from tests.unit.history.repositories import committed, git
from tests.unit.test_ci_templates import ACTION

pytestmark = [pytest.mark.integration, pytest.mark.measured]
SCRIPT = """\
import sys
import time

from dlprof_probes import mark

assert sys.argv[1:] == ["--name", "two words"]
with mark.phase("fit", batch_size=1, samples=20, epochs=1):
    with mark.epoch(0):
        for row in mark.steps(range(20)):
            time.sleep({step_s})
"""


def run(
    step: dict[str, object], variables: dict[str, str], outputs: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """A step of the action, with its expressions worked out."""
    inputs = {name: str(told.get("default", "")) for name, told in yaml.safe_load(ACTION.read_text())["inputs"].items()}
    given = {
        "script": "train.py",
        "arguments": "--name 'two words'",
        "base": "HEAD~1",
        "python": sys.executable,
        "repeat": "3",
    }
    values = {f"inputs.{name}": value for name, value in {**inputs, **given}.items()}
    values |= {f"steps.train.outputs.{name}": value for name, value in outputs.items()}
    told = {
        name: re.sub(r"\$\{\{\s*(.*?)\s*\}\}", lambda found: values[found[1]], text)
        for name, text in dict(step.get("env", {})).items()  # type: ignore[call-overload]
    }
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", str(step["run"])],
        cwd=variables["GITHUB_WORKSPACE"], env={**os.environ, **variables, **told},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_change_that_makes_steps_slower_fails_the_job(tmp_path: Path) -> None:
    """With errors for GitHub, a comment in the summary of the job, and JUnit's XML."""
    repository = committed(tmp_path / "r", SCRIPT.format(step_s=0.002), SCRIPT.format(step_s=0.03))
    (tmp_path / "temp" / "dlprof" / "bin").mkdir(parents=True)
    program = tmp_path / "temp" / "dlprof" / "bin" / "dlprof"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m dlprof "$@"\n')
    program.chmod(0o755)
    files = {name: str(tmp_path / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    variables = {"RUNNER_TEMP": str(tmp_path / "temp"), "GITHUB_WORKSPACE": str(repository.root), **files}
    _, train, compare = yaml.safe_load(ACTION.read_text(encoding="utf-8"))["runs"]["steps"]

    trained = run(train, variables, {})
    assert trained.returncode == 0, trained.stderr
    outputs = dict(line.split("=", 1) for line in Path(files["GITHUB_OUTPUT"]).read_text().splitlines())
    judged = run(compare, variables, outputs)

    assert judged.returncode == 1, judged.stderr
    assert re.search(r"^::error title=dlprof gate%3A fit/steps.* \+\d", judged.stdout, re.MULTILINE)
    assert "| fit/steps" in Path(files["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8")
    made = ET.parse(Path(outputs["folder"]) / "gate.xml").getroot()  # noqa: S314  (our own)
    assert int(made.get("failures", "0")) >= 1
    assert git(repository.root, "status", "--porcelain") == ""
