"""Before a script runs again its user knows what will run; what is not his is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from dlprof.errors import UsageError
from dlprof.store.run import Run
from dlprof.trials import consent
from tests.unit import runs
from tests.unit.trials.diagnosed import made_here, sealed


def test_variables_that_load_code_or_name_files_are_not_passed_on() -> None:
    """Threads and switches are."""
    kept = {
        "OMP_NUM_THREADS": "4",
        "LD_PRELOAD": "/tmp/evil.so",
        "PYTHONPATH": "/tmp",
        "PATH": "/tmp",
        "TF_XLA_FLAGS": "--tf_xla_auto_jit=2",
        "KMP_AFFINITY": "granularity=fine,compact,1,0",
        "MKL_NUM_THREADS": "$(id)",
        "XLA_FLAGS": "--xla_dump_to=/home",
    }
    assert consent.environment(kept) == {
        "OMP_NUM_THREADS": "4",
        "TF_XLA_FLAGS": "--tf_xla_auto_jit=2",
        "KMP_AFFINITY": "granularity=fine,compact,1,0",
    }


def test_a_run_that_was_made_here_of_a_script_that_is_the_same_has_no_doubts(tmp_path: Path, data: Path) -> None:
    """`--yes` is enough for it."""
    run = sealed(tmp_path)

    consent.refuse(run)

    assert consent.doubts(run) == []


def test_a_script_that_was_changed_is_a_doubt(tmp_path: Path, data: Path) -> None:
    """It is not what ran."""
    run = sealed(tmp_path)
    (tmp_path / "train.py").write_text("import os\n")

    assert consent.doubts(run) == [f"{tmp_path / 'train.py'} has changed since"]


def test_a_seal_does_not_fit_another_command(tmp_path: Path, data: Path) -> None:
    """A stranger may copy it, and change what is to run."""
    run = sealed(tmp_path)
    other = structs.replace(run.manifest, command=structs.replace(run.manifest.command, argv=("--evil",)))

    (doubt,) = consent.doubts(Run(run.folder, other))

    assert "nothing shows that your dlprof made this run" in doubt


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"machine": {"host": "another"}}, "it was made on another"),
        ({"script_folder": "/nowhere"}, "its script /nowhere/train.py is not there any more"),
        ({"backend": {"source": "python"}, "config": {"python": "/nowhere"}}, "its interpreter /nowhere is not there"),
        ({"backend": {"source": "python"}, "config": {"python": "/tmp"}}, "its interpreter /tmp is no file"),
    ],
)
def test_what_is_not_of_this_machine_is_refused(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    """The sentence says why."""
    run = runs.trained(tmp_path / "r", {**made_here(tmp_path), **changes})

    with pytest.raises(UsageError) as refused:
        consent.refuse(run)

    assert refused.value.message.startswith(f"r cannot be run again: {why}")


def test_a_script_that_everybody_may_change_is_refused(tmp_path: Path) -> None:
    """It may be another one by now."""
    run = runs.trained(tmp_path / "r", made_here(tmp_path))
    (tmp_path / "train.py").chmod(0o666)

    with pytest.raises(UsageError, match="may be changed by everybody"):
        consent.refuse(run)


def test_trials_that_a_link_leads_elsewhere_are_refused(tmp_path: Path) -> None:
    """They would be written there."""
    run = runs.trained(tmp_path / "r", made_here(tmp_path))
    (run.folder.path / "confirm").symlink_to(tmp_path)

    with pytest.raises(UsageError, match="is a link"):
        consent.refuse(run)


def test_the_plan_names_all_that_will_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Script, interpreter, arguments, folder, variables, and those that are left out."""
    monkeypatch.chdir(tmp_path)
    told = made_here(tmp_path, environment={"OMP_NUM_THREADS": "4", "LD_PRELOAD": "/tmp/x.so"})
    told["command"] = {"script": "train.py", "argv": ["--epochs", "a b"]}

    assert consent.plan(runs.trained(tmp_path / "r", told), ["python"]) == [
        f"script: {tmp_path / 'train.py'}",
        "interpreter: the managed environment of torch",
        "arguments: --epochs 'a b'",
        f"folder: {tmp_path}",
        "variables: OMP_NUM_THREADS=4",
        "not passed on: LD_PRELOAD",
    ]
