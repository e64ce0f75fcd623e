"""The sampler's process, as the launcher sees it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from dlprof.launch.sampler import Sampler, outcome
from dlprof.schema.process_config import SamplerConfig, SamplerReport


@pytest.fixture
def sampler(tmp_path: Path) -> Sampler:
    """One that is not started."""
    return Sampler(SamplerConfig(raw=str(tmp_path), pid=1, conductor=None, probes=("cores",), hz=10.0))


def test_its_configuration_is_a_file_for_it(sampler: Sampler, tmp_path: Path) -> None:
    """Among the raw artifacts."""
    sampler.prepare()

    assert json.loads((tmp_path / "sampler-config.json").read_text()) == {
        "raw": str(tmp_path),
        "pid": 1,
        "conductor": None,
        "program": None,
        "ends_traced": True,
        "probes": ["cores"],
        "hz": 10.0,
        "stacks_hz": None,
        "share": None,
        "stacks_share": None,
        "keep_arguments": False,
        "live": False,
    }


def test_modules_in_the_users_folder_are_not_the_samplers(
    sampler: Sampler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A `json.py` or `dlprof_probes.py` of the user's own is neither run nor compiled."""
    folder = tmp_path / "work"
    folder.mkdir()
    for name in ("json.py", "dlprof_probes.py"):
        (folder / name).write_text("open('run', 'w').close()")
    monkeypatch.chdir(folder)
    sampler.prepare()

    sampler.start()
    sampler.wait_until_ready(30)
    sampler.stop(30)

    assert sampler.reports().keys() == {"cores"}
    assert sorted(path.name for path in folder.iterdir()) == ["dlprof_probes.py", "json.py"]


def test_what_it_said_is_taken_out_of_the_folder(sampler: Sampler, tmp_path: Path) -> None:
    """Its files are no artifacts of the run."""
    sampler.prepare()
    (tmp_path / "sampler.json").write_text('{"cores": {"state": "on", "reason": null}}')

    assert sampler.reports() == {"cores": SamplerReport(state="on")}
    assert list(tmp_path.iterdir()) == []


def test_one_that_never_ran_has_said_nothing(sampler: Sampler) -> None:
    """And was not killed."""
    sampler.stop(1)

    assert (sampler.reports(), sampler.ended) == ({}, None)


def test_one_that_hangs_is_killed(sampler: Sampler, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run is over: nobody waits for a sampler that does not listen."""
    popen = subprocess.Popen
    monkeypatch.setattr(
        subprocess, "Popen", lambda command, **kwargs: popen(["sleep", "600"], **{**kwargs, "preexec_fn": None})
    )
    sampler.start()

    sampler.stop(0.05)

    assert sampler.ended == "the sampler did not end when it was told to, and was killed"


KILLED = "the sampler was killed by signal 9"


@pytest.mark.parametrize(
    ("report", "ended", "full", "expected"),
    [
        (SamplerReport(state="on"), None, None, ("on", None)),
        (SamplerReport(state="on"), KILLED, None, ("failed", KILLED)),
        (None, KILLED, None, ("failed", KILLED)),
        (None, None, None, ("failed", "the sampler did not start")),
        (None, None, "the disk was full", ("failed", "the disk was full")),
        (SamplerReport(state="failed", reason="x"), None, "the disk was full", ("failed", "the disk was full")),
        (SamplerReport(state="unavailable", reason="no GPU"), KILLED, "the disk was full", ("unavailable", "no GPU")),
    ],
)
def test_what_became_of_its_probes(
    report: SamplerReport | None, ended: str | None, full: str | None, expected: tuple[str, str | None]
) -> None:
    """By what it said, how it ended, and whether the disk was full."""
    probe = outcome("cores", report, ended, full)

    assert (probe.state, probe.reason) == expected
