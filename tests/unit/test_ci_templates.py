"""The action of GitHub and the template of GitLab: their structure, and the shell in them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from dlprof.cli import parse

ROOT = Path(__file__).parents[2]
ACTION = ROOT / ".github" / "actions" / "gate" / "action.yml"
TEMPLATE = ROOT / ".ci" / "templates" / "gate.gitlab-ci.yml"
PAGE = ROOT / "docs" / "howto" / "ci-gate.md"
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


def action() -> Any:
    """The action."""
    return yaml.safe_load(ACTION.read_text(encoding="utf-8"))


def job() -> Any:
    """The job of the template."""
    return yaml.safe_load(TEMPLATE.read_text(encoding="utf-8"))["dlprof-gate"]


def scripts() -> dict[str, str]:
    """All shell of both."""
    steps = {step["name"]: step["run"] for step in action()["runs"]["steps"]}
    return {**steps, "GitLab": "\n".join(job()["script"])}


def test_the_action_has_what_github_asks_of_a_composite_one() -> None:
    """Each step names its shell; inputs say what they are, and those that may be missing have a default."""
    made = action()

    assert set(made) == {"name", "description", "author", "branding", "inputs", "outputs", "runs"}
    assert made["runs"]["using"] == "composite"
    assert [step["shell"] for step in made["runs"]["steps"]] == ["bash", "bash", "bash"]
    for name, told in made["inputs"].items():
        assert told["description"], name
        assert ("default" in told) != told.get("required", False), name
        assert isinstance(told.get("default", ""), str), name


def test_expressions_of_the_action_lead_somewhere() -> None:
    """To inputs, or to outputs of steps; every input is used."""
    made = action()
    steps = made["runs"]["steps"]
    used = set(_EXPRESSION.findall("\n".join(str(step.get("env", "")) for step in steps)))

    assert {f"inputs.{name}" for name in made["inputs"]} <= used
    ids = {step["id"] for step in steps if "id" in step}
    for one in (used | {made["outputs"]["folder"]["value"]}) - {f"inputs.{name}" for name in made["inputs"]}:
        assert any(f"steps.{name}.outputs.folder" in one for name in ids), one


def test_what_users_give_reaches_the_shell_as_variables() -> None:
    """An expression inside of a script would let a title or a branch name run commands."""
    assert [name for name, script in scripts().items() if "${{" in script] == []


@pytest.mark.parametrize("name", scripts())
def test_the_shell_is_bash(name: str) -> None:
    """Bash reads it without complaint."""
    done = subprocess.run(["bash", "-n"], input=scripts()[name], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", [name for name in scripts() if "dlprof/bin/dlprof" in scripts()[name]])
def test_commands_are_those_of_dlprof(name: str) -> None:
    """With flags that it knows."""
    script = scripts()[name].replace("\\\n", " ")
    lines = re.findall(r"\.?dlprof/bin/dlprof\"? (trace|gate) (.*)", script)

    assert lines
    for command, rest in lines:
        flags = re.findall(r"(?<=\s)--?[a-z][a-z-]*", f" {rest.split(' -- ')[0]}")
        known = {"trace": ["trace", "x.py"], "gate": ["gate", "a", "b"]}[command]
        values = {"--python": "p", "-o": "o", "--max-regression": "5%", "--only": "fit", "--format": "text"}
        parse([*known, *(word for flag in flags for word in (flag, values.get(flag)) if word)])


def test_the_template_keeps_what_gitlab_shows() -> None:
    """The JUnit report and the runs, also of a job that failed."""
    made = job()

    assert made["artifacts"] == {
        "when": "always",
        "paths": ["dlprof-gate"],
        "reports": {"junit": "dlprof-gate/gate.xml"},
    }
    assert made["rules"] == [{"if": "$CI_MERGE_REQUEST_DIFF_BASE_SHA"}]
    assert all(isinstance(value, str) for value in made["variables"].values())


def test_the_page_shows_a_workflow_with_inputs_that_the_action_has() -> None:
    """And the template's path."""
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    workflow, gitlab = (yaml.safe_load(block) for block in blocks)

    (step,) = [one for one in workflow["jobs"]["gate"]["steps"] if "actions/gate" in one.get("uses", "")]
    assert set(step["with"]) <= set(action()["inputs"])
    assert "script" in step["with"]
    assert (ROOT / gitlab["include"][0]["file"]).samefile(TEMPLATE)
    assert set(gitlab["dlprof-gate"]["variables"]) <= set(job()["variables"])


@pytest.mark.parametrize(
    "form", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml")), ids=lambda path: path.stem
)
def test_forms_of_issues_have_what_github_asks_of_them(form: Path) -> None:
    """A name, a description, and fields with labels of their own."""
    made = yaml.safe_load(form.read_text(encoding="utf-8"))

    assert {"name", "description", "body"} <= set(made)
    assert len({field["id"] for field in made["body"]}) == len(made["body"])
    assert all(
        field["type"] in ("textarea", "dropdown", "input") and field["attributes"]["label"] for field in made["body"]
    )


def test_hooks_of_pre_commit_are_programs_of_the_environment() -> None:
    """No versions of their own; the test that one names is there."""
    (own,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]

    assert (own["repo"], {hook["language"] for hook in own["hooks"]}) == ("local", {"system"})
    for hook in own["hooks"]:
        program, *words = hook["entry"].split()
        assert program.startswith(".venv/bin/")
        assert all((ROOT / word).exists() for word in words if word.endswith(".py"))
