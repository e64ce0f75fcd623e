"""`dlprof diagnose`."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dlprof.store.run import Run
from dlprof.trials import confirm
from dlprof.trials.confirm import Trial
from tests.unit import ranked_runs
from tests.unit.runs import S, dlprof, manifest, phases, span, trained
from tests.unit.trials.diagnosed import diagnosed, sealed

WHOLE = Trial("threads-underused", "2 threads", 2 * S, S, None, "confirmed")


@dataclass
class Terminal(io.StringIO):
    """Standard input of a user who answers this."""

    answer: str

    def isatty(self) -> bool:
        """It is one."""
        return True

    def readline(self, _size: int | None = -1, /) -> str:  # type: ignore[override]
        """The answer."""
        return self.answer


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Remedies that are tried, without running anything: (finding, rounds)."""
    tried: list[tuple[str, int]] = []

    def tries(_run: Run, findings: list[Any], _report: Any, *, repeats: int) -> list[Trial]:
        tried.extend((finding.slug, repeats) for finding in findings)
        return [WHOLE]

    monkeypatch.setattr(confirm, "tries", tries)
    return tried


def slower(path: Path) -> Run:
    """A run of 13 s, 5 s of them import."""
    told = manifest(process={"pid": 42, "exit_code": 0, "wall_ns": 13 * S})
    rows = [{"phase": "import", "parent": None, "dur_ns": 5 * S, "count": 1}]
    return trained(path, told, phases=[*rows, *phases(fit_steps=5, fit_callbacks=1, teardown=2)])


def test_one_run_is_diagnosed_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where it loses time."""
    trained(tmp_path / "r")

    assert dlprof("diagnose", tmp_path / "r") == 0
    assert capsys.readouterr().out.strip().startswith("Where r loses time, of 10.0 s")


def test_json_names_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And is of the whole wall time."""
    trained(tmp_path / "r")

    assert dlprof("diagnose", tmp_path / "r", "--json") == 0

    content = json.loads(capsys.readouterr().out)
    assert (content["schema"], content["runs"], content["comparable"]) == ("dlprof.diagnose/1", ["r"], None)
    assert content["whole_ns"] == 10 * S


def test_of_two_runs_it_is_said_why_the_first_is_slower(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the verdict of the comparison."""
    slower(tmp_path / "a")
    trained(tmp_path / "b")

    assert dlprof("diagnose", tmp_path / "a", tmp_path / "b") == 0

    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith("Why a is slower than b a took 13.0 s, b 10.0 s: a is 1.30 x slower than b, by 3.00 s")


def test_two_runs_in_the_wrong_order_are_told_to_be_swapped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the command that does it."""
    slower(tmp_path / "a")
    trained(tmp_path / "b")

    assert dlprof("diagnose", tmp_path / "b", tmp_path / "a") == 0

    out = "".join(capsys.readouterr().out.split())
    assert f"Forwhattakeslongerina:dlprofdiagnose{tmp_path}/a{tmp_path}/b." in out


def test_runs_that_did_different_work_are_said_to_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the object, too."""
    from tests.unit.runs import fit_span

    trained(tmp_path / "a", spans=[fit_span(batch_size=64)])
    trained(tmp_path / "b")

    assert dlprof("diagnose", tmp_path / "a", tmp_path / "b", "--json") == 0
    content = json.loads(capsys.readouterr().out)
    assert dlprof("diagnose", tmp_path / "a", tmp_path / "b") == 0

    assert (content["comparable"], content["why_not"]) == (False, ["the batch sizes differ: 64 and 128"])
    assert "Not comparable, because the batch sizes differ: 64 and 128." in " ".join(capsys.readouterr().out.split())


def test_three_runs_are_too_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A comparison takes more."""
    assert dlprof("diagnose", "a", "b", "c") == 64
    assert "dlprof compare takes more" in capsys.readouterr().err


def test_remedies_are_tried_when_that_is_agreed_to(
    tmp_path: Path, data: Path, asked: list[tuple[str, int]], capsys: pytest.CaptureFixture[str]
) -> None:
    """What will be run, and for how long, is said before; what came of it after."""
    sealed(tmp_path)

    assert dlprof("diagnose", tmp_path / "r", "--confirm", "--yes", "--repeat", "2") == 0

    said = capsys.readouterr().err
    assert ("threads-underused", 2) in asked
    assert f"script: {tmp_path / 'train.py'}" in said
    assert "interpreter: the managed environment of torch" in said
    assert "arguments: none" in said
    assert "to try: threads-underused: " in said
    assert "dlprof: threads-underused: confirmed" in said


@pytest.mark.parametrize(("answer", "count"), [("y\n", 1), ("yes\n", 1), ("n\n", 0), ("\n", 0), ("", 0)])
def test_without_yes_it_is_asked_first(
    tmp_path: Path, asked: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch, answer: str, count: int
) -> None:
    """Anything but yes is no."""
    diagnosed(tmp_path)
    monkeypatch.setattr("sys.stdin", Terminal(answer))

    assert dlprof("diagnose", tmp_path / "r", "--confirm") == 0
    assert len(asked) == count


def test_without_a_terminal_nobody_can_be_asked(
    tmp_path: Path, asked: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is run."""
    diagnosed(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))

    assert dlprof("diagnose", tmp_path / "r", "--confirm") == 64
    assert asked == []


def test_yes_is_not_enough_for_a_run_that_somebody_may_have_sent(
    tmp_path: Path, data: Path, asked: list[tuple[str, int]], capsys: pytest.CaptureFixture[str]
) -> None:
    """It names this machine and this folder, but nothing shows that it was made here."""
    diagnosed(tmp_path)

    assert dlprof("diagnose", tmp_path / "r", "--confirm", "--yes") == 64

    assert "nothing shows that your dlprof made this run" in capsys.readouterr().err
    assert asked == []


def test_a_run_without_remedies_has_nothing_to_try(
    tmp_path: Path, asked: list[tuple[str, int]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Which is said."""
    trained(tmp_path / "r", phases=phases(script=10), phase_intervals=[], steps=[], spans=[], metrics=[])

    assert dlprof("diagnose", tmp_path / "r", "--confirm", "--yes") == 0
    assert "nothing to try" in capsys.readouterr().err
    assert asked == []


@pytest.mark.parametrize("repeat", ["0", "101"])
def test_rounds_are_between_one_and_a_hundred(tmp_path: Path, repeat: str) -> None:
    """Exit code 64."""
    diagnosed(tmp_path)

    assert dlprof("diagnose", tmp_path / "r", "--confirm", "--yes", "--repeat", repeat) == 64


def test_a_script_that_failed_at_once_is_told_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where its time went instead is no answer."""
    told = manifest(process={"pid": 42, "exit_code": 1, "wall_ns": S // 5})
    nothing: dict[str, Any] = {name: [] for name in ("phase_intervals", "steps", "epochs", "metrics")}
    trained(
        tmp_path / "r",
        told,
        phases=phases(teardown=0.1),
        spans=[span("exception", 0, 0.1, name="SyntaxError", file="bad.py", line=2)],
        **nothing,
    )

    assert dlprof("diagnose", tmp_path / "r") == 0

    out = " ".join(capsys.readouterr().out.split())
    assert "The script ended with exit code 1 (SyntaxError at bad.py:2) before anything was trained" in out
    assert "Most of the time" not in out


def test_a_training_that_failed_is_told_so_before_its_findings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its time is explained all the same."""
    trained(tmp_path / "r", manifest(process={"pid": 42, "exit_code": 3, "wall_ns": 10 * S}))

    assert dlprof("diagnose", tmp_path / "r") == 0

    lines = [line for line in capsys.readouterr().out.splitlines() if line]
    assert lines[1] == "The script failed with exit code 3."


def test_what_ranks_lose_to_each_other_is_diagnosed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And where to look for what one of them loses by itself."""
    ranked_runs.make(tmp_path / "ddp", {0: 5, 1: 12})
    assert dlprof("diagnose", tmp_path / "ddp", "--json") == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [one["slug"] for one in findings] == ["straggler"]
    assert dlprof("diagnose", tmp_path / "ddp") == 0
    assert "ddp/rank-001" in capsys.readouterr().out
