"""`dlprof gate`: the gate of continuous integration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from dlprof.analysis import gate as judging
from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Diagnosis, Finding
from dlprof.cli import gate
from dlprof.schema.vocabulary import Basis
from dlprof.store.run import Run
from tests.unit import runs
from tests.unit.runs import S


def timed(path: Path, import_s: float, **changes: Any) -> Run:
    """A run whose import takes so long, and whose wall time is longer by that."""
    wall = round((8 + import_s) * S)
    told = runs.manifest(process={"pid": 42, "exit_code": 0, "signal": None, "wall_ns": wall}, **changes)
    rows = runs.phases(startup=import_s, fit_steps=5, fit_callbacks=1, teardown=2)
    rows[0]["phase"] = "import"
    return runs.trained(path, told, phases=rows)


def repeats(folder: Path, import_s: float) -> Path:
    """Three runs that differ by a few percent."""
    for n in range(3):
        timed(folder / f"{n}", import_s + n * 0.02)
    return folder


def test_a_slow_down_beyond_noise_and_limit_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The component is named, and the exit code is 1."""
    code = runs.dlprof("gate", repeats(tmp_path / "base", 2), repeats(tmp_path / "new", 3))

    out = capsys.readouterr().out
    assert code == 1
    assert out.startswith("dlprof gate: FAILED, limit 5 %: wall +10.0 %, import +49.5 %;")
    assert "  import: 2.02 s to 3.02 s, 95 % " in out


def test_a_change_within_the_limit_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """4 % of the import and of the wall time may pass at 5 %."""
    code = runs.dlprof("gate", repeats(tmp_path / "base", 2), repeats(tmp_path / "new", 2.08))

    assert code == 0
    assert capsys.readouterr().out.startswith("dlprof gate: ok, nothing grew by more than 5 % beyond noise; wall")


def test_a_faster_run_passes(tmp_path: Path) -> None:
    """Nobody is stopped for that."""
    assert runs.dlprof("gate", repeats(tmp_path / "base", 4), repeats(tmp_path / "new", 2)) == 0


def test_the_limit_is_the_users(tmp_path: Path) -> None:
    """60 % lets 50 % pass."""
    assert runs.dlprof("gate", repeats(tmp_path / "b", 2), repeats(tmp_path / "n", 3), "--max-regression", "60%") == 0


def test_parts_can_be_chosen(tmp_path: Path) -> None:
    """An import that grew is nothing to who asks for fit only."""
    assert runs.dlprof("gate", repeats(tmp_path / "b", 2), repeats(tmp_path / "n", 3), "--only", "fit") == 0


@pytest.mark.parametrize("limit", ["fast", "-5%", "5%%", ""])
def test_a_limit_that_is_none_is_refused(tmp_path: Path, limit: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With what it should look like."""
    code = runs.dlprof(
        "gate", timed(tmp_path / "a", 2).folder.path, timed(tmp_path / "b", 2).folder.path, f"--max-regression={limit}"
    )

    assert code == 64
    assert "must be a share such as 5% or 0.05" in capsys.readouterr().err


def test_runs_that_did_different_work_are_not_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Unless the user insists."""
    command = {"script": "train.py", "module": None, "program": None, "argv": ["--epochs", "9"]}
    pair = timed(tmp_path / "a", 2).folder.path, timed(tmp_path / "b", 2, command=command).folder.path

    assert runs.dlprof("gate", *pair) == 64
    assert "not comparable, because the arguments differ: --epochs 9 and none" in capsys.readouterr().err
    assert runs.dlprof("gate", *pair, "--anyway") == 0


@pytest.mark.parametrize(
    ("form", "begin"),
    [
        ("junit", '<testsuites name="dlprof gate" tests="1" failures="0" errors="1"'),
        ("markdown", "### \N{CROSS MARK} dlprof gate: not judged\n\nThe runs are not comparable, because "),
        ("github", "::error title=dlprof gate%3A not judged::The runs are not comparable, because "),
        ("json", '{\n "schema": "dlprof.gate/1",\n "passed": false,'),
    ],
)
def test_what_a_ci_system_reads_is_whole_where_nothing_is_judged(
    tmp_path: Path, form: str, begin: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """And the exit code is that of bad usage all the same."""
    command = {"script": "train.py", "module": None, "program": None, "argv": ["--epochs", "9"]}
    pair = timed(tmp_path / "a", 2).folder.path, timed(tmp_path / "b", 2, command=command).folder.path

    assert runs.dlprof("gate", *pair, "--format", form) == 64

    said = capsys.readouterr()
    assert said.out.startswith(begin)
    assert "the arguments differ: " in said.out
    assert said.err.startswith("dlprof: error: The runs are not comparable, because ")


ERRORS = [
    ("junit", '<testsuites name="dlprof gate" tests="1" failures="0" errors="1"'),
    ("markdown", "### \N{CROSS MARK} dlprof gate: not judged\n\nThere is no run "),
    ("github", "::error title=dlprof gate%3A not judged::There is no run "),
    ("json", '{\n "schema": "dlprof.gate/1",\n "passed": false,\n "max_regression": null,'),
]


@pytest.mark.parametrize(("form", "begin"), ERRORS)
def test_what_a_ci_system_reads_is_whole_where_a_run_is_not_there(
    tmp_path: Path, form: str, begin: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is that of a file that is not there, and people are told as ever."""
    base = tmp_path / "gone"

    assert runs.dlprof("gate", base, timed(tmp_path / "new", 2).folder.path, "--format", form) == 66

    said = capsys.readouterr()
    assert said.out.startswith(begin)
    assert said.err.startswith(f"dlprof: error: There is no run {base}")


@pytest.mark.parametrize("form", ["junit", "markdown", "github", "json"])
@pytest.mark.parametrize(
    ("broken", "words", "code"),
    [
        ("manifest.json", (), 4),
        (None, ("--max-regression", "fast"), 64),
        (None, ("--only", "fat"), 64),
    ],
    ids=["unreadable", "limit", "part"],
)
def test_every_error_is_told_in_the_format_that_is_asked_for(
    tmp_path: Path,
    form: str,
    broken: str | None,
    words: tuple[str, ...],
    code: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With the words of the error, once."""
    pair = timed(tmp_path / "a", 2).folder.path, timed(tmp_path / "b", 2).folder.path
    if broken is not None:
        (pair[0] / broken).write_text("{")

    assert runs.dlprof("gate", *pair, *words, "--format", form) == code

    said = capsys.readouterr()
    message = said.err.splitlines()[0].removeprefix("dlprof: error: ")
    assert read(form, said.out).startswith(message)


def read(form: str, out: str) -> str:
    """The error in what was printed, as a reader of that format finds it."""
    if form == "json":
        return str(json.loads(out)["error"])
    if form == "junit":
        return str(ET.fromstring(out).findall(".//error")[0].get("message"))  # noqa: S314  (our own)
    if form == "github":
        return out.removeprefix("::error title=dlprof gate%3A not judged::").replace("%25", "%")
    return out.split("\n\n")[1].replace("\\", "")


def test_as_text_an_error_is_told_on_standard_error_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A log has both streams."""
    assert runs.dlprof("gate", tmp_path / "gone", timed(tmp_path / "new", 2).folder.path) == 66

    assert capsys.readouterr().out == ""


def test_a_run_is_not_judged_by_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is said what to type instead, which is not to judge it anyway."""
    run = timed(tmp_path / "a", 2).folder.path

    assert runs.dlprof("gate", run, run) == 64

    said = capsys.readouterr().err
    assert "because A and B are the same run" in said
    assert f"try: dlprof trace SCRIPT, with the change; then dlprof gate {run} last" in said
    assert "--anyway" not in said


def test_the_gate_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For tools."""
    runs.dlprof("gate", repeats(tmp_path / "base", 2), repeats(tmp_path / "new", 3), "--json")

    content = json.loads(capsys.readouterr().out)
    assert content["schema"] == "dlprof.gate/1"
    assert content["passed"] is False
    assert [one["name"] for one in content["components"] if one["regressed"]] == ["wall", "import"]


@pytest.mark.parametrize(
    ("form", "begin"),
    [
        ("junit", '<testsuites name="dlprof gate" tests='),
        ("markdown", "### \N{CROSS MARK} dlprof gate: FAILED, limit 5 %: wall "),
        ("github", "dlprof gate: FAILED, limit 5 %: wall "),
        ("json", '{\n "schema": "dlprof.gate/1",'),
        ("text", "dlprof gate: FAILED, limit 5 %: wall "),
    ],
)
def test_the_answer_has_the_format_that_is_asked_for(
    tmp_path: Path, form: str, begin: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is the same."""
    assert runs.dlprof("gate", repeats(tmp_path / "b", 2), repeats(tmp_path / "n", 3), "--format", form) == 1

    assert capsys.readouterr().out.startswith(begin)


def test_a_file_is_named_from_the_root_of_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that lies elsewhere, or is none, is not named: the CI system could not show it."""
    (tmp_path / "repository" / "src").mkdir(parents=True)
    for name in ("repository/src/train.py", "repository/other.py", "outside.py"):
        (tmp_path / name).touch()
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "repository"))
    folder = tmp_path / "repository" / "src"

    assert gate._in_repository(folder, "train.py") == "src/train.py"
    assert gate._in_repository(Path("/elsewhere"), "other.py") == "other.py"
    named = [gate._in_repository(folder, name) for name in ("../../outside.py", "<frozen>", "gone.py", None)]
    assert named == [None, None, None, None]


def test_what_became_slower_is_shown_at_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The causes are those of the diagnosis of both."""
    (tmp_path / "train.py").touch()
    monkeypatch.chdir(tmp_path)
    found = Finding("io-bound", "It writes.", S, 0.1, None, Basis.MEASURED, "train.py", 7, (), "Write less.")
    monkeypatch.setattr(diagnose, "diagnose_gap", lambda _found: Diagnosis((found,), (), 10 * S))

    runs.dlprof("gate", repeats(tmp_path / "b", 2), repeats(tmp_path / "n", 3), "--format", "github")

    assert capsys.readouterr().out.splitlines()[1].endswith("file=train.py,line=7::It writes. Write less.")


def test_runs_are_named_by_their_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of both sides have the same names in their folders."""
    monkeypatch.chdir(tmp_path)
    runs.dlprof("gate", repeats(Path("runs/base"), 2), repeats(Path("runs/new"), 2), "--format", "junit")

    assert 'name="runs/base/0, runs/base/1, runs/base/2 to runs/new/0, runs/new/1, runs/new/2"' in (
        capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("words", "code", "status"),
    [((), 75, "inconclusive"), (("--doubtful", "fail"), 1, "failed"), (("--doubtful", "pass"), 0, "ok")],
)
def test_what_only_the_machine_may_explain_has_an_exit_code_of_its_own(
    tmp_path: Path, words: tuple[str, ...], code: int, status: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another processor: neither passed nor failed, unless the user says so."""
    base = timed(tmp_path / "base", 2).folder.path
    new = timed(tmp_path / "new", 4, machine={**runs.manifest()["machine"], "cpu": "another"}).folder.path

    assert runs.dlprof("gate", base, new, "--json", *words) == code

    content = json.loads(capsys.readouterr().out)
    assert (content["status"], content["passed"]) == (status, code == 0)
    assert [one["name"] for one in content["components"] if one["doubtful"]] == ["wall", "import"]
    assert [one.partition(":")[0] for one in content["differences"]] == ["processors"]


@pytest.mark.parametrize("form", ["text", "junit", "markdown", "github", "json"])
def test_every_format_says_why_runs_that_are_judged_anyway_are_not_comparable(
    tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that was killed is shorter for that."""
    killed = runs.manifest()["process"] | {"signal": 9, "exit_code": None, "wall_ns": 10 * S}
    base = timed(tmp_path / "base", 2).folder.path
    new = runs.trained(tmp_path / "new", runs.manifest(process=killed)).folder.path

    runs.dlprof("gate", base, new, "--anyway", "--format", form)

    assert "A was ended by signal 9" in capsys.readouterr().out


def test_parts_that_are_chosen_are_judged_among_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not among all: the fewer are asked, the fewer chances there are of a false alarm."""
    asked: list[object] = []
    judge = judging.components

    def noted(*arguments: Any) -> list[judging.Component]:
        asked.append(arguments[2:])
        return judge(*arguments)

    monkeypatch.setattr(judging, "components", noted)
    runs.dlprof("gate", repeats(tmp_path / "b", 2), repeats(tmp_path / "n", 3), "--only", "import,wall")

    assert asked == [(), ({"import", "wall"},)]
