"""The gate stops a slow-down; trials of remedies confirm findings or refute them; the exam reads its truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import diagnose
from dlprof.errors import DlprofError, NoInputError, UsageError
from dlprof.store.run import Run
from dlprof.trials import again as trials
from dlprof.trials import confirm
from dlprof.trials.exam import costs, result, sitting, tables, truths
from dlprof.trials.exam import runs as exam_runs
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
    code = runs.dlprof("gate", timed(tmp_path / "a", 2).folder.path, timed(tmp_path / "b", 2).folder.path,
                       f"--max-regression={limit}")  # fmt: skip

    assert code == 64
    assert "must be a share such as 5% or 0.05" in capsys.readouterr().err


def test_runs_that_did_different_work_are_not_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Unless the user insists."""
    command = {"script": "train.py", "module": None, "program": None, "argv": ["--epochs", "9"]}
    pair = timed(tmp_path / "a", 2).folder.path, timed(tmp_path / "b", 2, command=command).folder.path

    assert runs.dlprof("gate", *pair) == 64
    assert "not comparable, because the arguments differ: --epochs 9 and none" in capsys.readouterr().err
    assert runs.dlprof("gate", *pair, "--anyway") == 0


def test_the_gate_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For tools."""
    runs.dlprof("gate", repeats(tmp_path / "base", 2), repeats(tmp_path / "new", 3), "--json")

    content = json.loads(capsys.readouterr().out)
    assert content["schema"] == "dlprof.gate/1"
    assert content["passed"] is False
    assert [one["name"] for one in content["components"] if one["regressed"]] == ["wall", "import"]


def diagnosed(tmp_path: Path) -> Run:
    """A run with one thread on two cores: a finding with a remedy."""
    kernels = [{"op": "mm", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 16}]
    spans = [runs.fit_span(training={"threads": {"usable_cores": 2, "torch": 1}})]
    samples = [{"time_ns": round(at * S), "interval_ns": S, "cpu_pct": 100.0, "run_ns": run, "wait_ns": 0,
                "main_run_ns": run, "main_wait_ns": 0} for at, run in ((2.5, 0), (7.5, 5 * S))]  # fmt: skip
    machine = [{"time_ns": 5 * S, "interval_ns": S, "cpu_pct": 100.0, "others_cpu_pct": 0.0, "dlprof_cpu_pct": 0.0}]
    return runs.trained(tmp_path / "r", spans=spans, process_samples=samples, machine=machine, **runs.window(kernels))


@pytest.mark.parametrize(("saved_s", "state"), [(1.5, "confirmed"), (0.1, "refuted")])
def test_a_trial_confirms_what_it_saves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saved_s: float, state: str
) -> None:
    """A third of the prediction at least, and beyond noise; it is kept with the run."""
    run = diagnosed(tmp_path)
    asked: list[Any] = []

    def again(_run: Run, place: Path, remedy: Any = None, **_more: Any) -> Run:
        asked.append(remedy)
        return timed(place, 2 - (saved_s if remedy else 0) + len(asked) * 0.001)

    monkeypatch.setattr(trials, "again", again)
    findings = confirm.candidates(diagnose.diagnose(run))

    (trial,) = confirm.tries(run, findings, lambda _line: None)

    assert (trial.slug, trial.state) == ("threads-underused", state)
    assert trial.achieved_ns == pytest.approx(saved_s * S, rel=0.02)
    assert [remedy is None for remedy in asked] == [True, False] * 3
    told = next(f for f in confirm.told(run, diagnose.diagnose(run)).findings if f.slug == "threads-underused")
    assert told.state == state
    assert told.saving_ns is not None
    assert told.saving_ns["achieved"] == trial.achieved_ns


def test_a_remedy_that_breaks_the_script_leaves_its_finding_untested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the reason."""
    run = diagnosed(tmp_path)

    def again(_run: Run, place: Path, remedy: Any = None, **_more: Any) -> Run:
        if remedy is not None:
            raise DlprofError("the run ended with exit code 1: no")
        return timed(place, 2)

    monkeypatch.setattr(trials, "again", again)
    (trial,) = confirm.tries(run, confirm.candidates(diagnose.diagnose(run)), lambda _line: None)

    assert (trial.state, trial.achieved_ns, trial.failed) == ("untested", None, "the run ended with exit code 1: no")
    told = next(f for f in confirm.told(run, diagnose.diagnose(run)).findings if f.slug == "threads-underused")
    assert (told.state, told.not_tried) == ("untested", "the run ended with exit code 1: no")


def test_a_trial_runs_the_same_command(tmp_path: Path) -> None:
    """Script, backend and arguments of the run."""
    script = tmp_path / "train.py"
    script.write_text("")
    command = {"script": "sub/train.py", "module": None, "program": None, "argv": ["--epochs", "9"]}
    run = runs.trained(tmp_path / "r", runs.manifest(script_folder=str(tmp_path), command=command))

    made = trials.command(run, tmp_path / "new")

    assert made[2:5] == ["dlprof", "trace", str(script)]
    assert made[made.index("--backend") + 1] == "torch"
    assert made[-3:] == ["--", "--epochs", "9"]


def test_a_script_that_is_gone_cannot_be_tried(tmp_path: Path) -> None:
    """The sentence names it."""
    with pytest.raises(UsageError, match=r"its script .*train.py is not there any more"):
        trials.command(runs.trained(tmp_path / "r"), tmp_path / "new")


def test_confirm_asks_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal to ask at, it wants --yes."""
    diagnosed(tmp_path)

    assert runs.dlprof("diagnose", tmp_path / "r", "--confirm") == 64
    err = capsys.readouterr().err
    assert "to try: threads-underused: 2 threads; the script runs 6 times, about 1.1 min" in err
    assert "--yes" in err


def truth(folder: Path, text: str) -> Path:
    """A folder with one truth file and a script."""
    (folder / "x.py").write_text("")
    (folder / "x.toml").write_text(text)
    return folder


GOOD = 'slug = "slow-callback"\nscript = "x.py"\nbackends = ["torch", "jax"]\n[fault]\narguments = ["--slow"]\nbeside = 2\n'


def test_a_truth_file_gives_a_case_per_backend(tmp_path: Path) -> None:
    """With what plants the cause."""
    found = truths.load(truth(tmp_path, GOOD))

    assert [one.backend for one in found] == ["torch", "jax"]
    assert (found[0].fault_arguments, found[0].beside) == (("--slow",), 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace("slow-callback", "slow-coffee"), "there is no finding slow-coffee"),
        (GOOD.replace("script", "skript"), "unknown key skript"),
        (GOOD.replace("torch", "torch9"), "torch9"),
        ("slug = ", "cannot be read"),
    ],
)
def test_a_wrong_truth_file_is_refused(tmp_path: Path, text: str, said: str) -> None:
    """The sentence says what is wrong."""
    with pytest.raises(UsageError, match=said):
        truths.load(truth(tmp_path, text))


def test_a_folder_without_truth_is_refused(tmp_path: Path) -> None:
    """There is nothing to examine."""
    with pytest.raises(NoInputError, match="no truth file"):
        truths.load(tmp_path)


def test_the_figures_of_an_exam_are_those_of_its_cases(tmp_path: Path) -> None:
    """Two planted causes: one first and 10 % too high, the other second, behind a wrong one."""
    one, two = truths.load(truth(tmp_path, GOOD))
    told = result.Result((
        result.Answer(one, ("slow-callback",), 1, 11 * S, 10 * S),
        result.Answer(two, ("io-bound", "slow-callback"), 2, 5 * S, 10 * S),
    ))  # fmt: skip

    rows = {row.slug: row for row in result.rows(told)}

    assert (rows["all"].cases, rows["all"].first, rows["all"].recall, rows["all"].rank) == (2, 1, 1.0, 1.5)
    assert rows["all"].within == 0.5
    assert rows["slow-callback"].precision == 1.0
    assert rows["io-bound"].precision == 0.0


def lasted(folder: Path, seconds: float) -> Run:
    """A run whose import and end take 4 s of so many."""
    told = runs.manifest(process={**runs.manifest()["process"], "wall_ns": round(seconds * S)})
    rows = runs.phases(fit_steps=seconds - 4, teardown=2)
    rows.append({"phase": "import", "parent": None, "dur_ns": 2 * S, "count": 1})
    return runs.trained(folder, told, phases=rows)


def test_a_cost_is_the_difference_of_the_fastest_runs(tmp_path: Path) -> None:
    """9 s, the fastest with the cause, less 6 s, the fastest without it; the ends of the process do not count."""
    one = truths.load(truth(tmp_path, GOOD))[0]
    times = ((10, 11, 8), (9, 12, 6))
    rounds = [
        costs.Round(*(costs.timed(one, lasted(tmp_path / f"{n}-{m}", seconds)) for m, seconds in enumerate(row)))
        for n, row in enumerate(times)
    ]

    assert costs.cost(one, rounds) == 3 * S
    assert costs.doubt(rounds[:1]) is None


def test_a_cause_that_comes_by_chance_is_examined_where_it_came(tmp_path: Path) -> None:
    """In the slower run with all probes, of 10 s: 4 s more than the fastest clean one."""
    one = truths.load(truth(tmp_path, GOOD.replace("slow-callback", "iterator-restart")))[0]
    times = ((10, 7, 8), (6, 12, 6))
    rounds = [
        costs.Round(*(costs.timed(one, lasted(tmp_path / f"{n}-{m}", seconds)) for m, seconds in enumerate(row)))
        for n, row in enumerate(times)
    ]

    assert costs.cost(one, rounds) == 4 * S


def test_an_exam_goes_on_while_the_fastest_runs_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rounds whose clean runs differ by 2 s of a cost of 5 s, and a third that is like the first: 0.2 s."""
    one = truths.load(truth(tmp_path, GOOD))[0]
    times = iter([(9.1, 9, 4), (9.5, 9.6, 6), (9.7, 9, 4.1), (20, 20, 20)])

    def made(_truth: truths.Truth, _folder: Path, number: int) -> costs.Round:
        return costs.Round(
            *(costs.timed(one, lasted(tmp_path / f"{number}-{m}", seconds)) for m, seconds in enumerate(next(times)))
        )

    monkeypatch.setattr(costs, "_round", made)
    rounds = costs.made_rounds(one, tmp_path, 2)

    assert len(rounds) == 3
    assert costs.doubt(rounds) == pytest.approx(0.1 * S)


def test_the_ends_of_a_process_count_where_the_cause_is_an_import(tmp_path: Path) -> None:
    """10 s in all, of which 4 are import and teardown."""
    slow, heavy = (
        truths.load(truth(tmp_path, GOOD.replace("slow-callback", slug)))[0]
        for slug in ("slow-callback", "import-heavy")
    )
    run = lasted(tmp_path / "r", 10)

    assert (costs.counted_ns(slow, run), costs.counted_ns(heavy, run)) == (6 * S, 10 * S)


def test_two_exams_do_not_share_a_folder(tmp_path: Path) -> None:
    """Runs made beside one another would be slow, and be taken for good ones."""
    with exam_runs.alone(tmp_path), pytest.raises(UsageError, match="Another exam is at work"):
        sitting.sit([], tmp_path, lambda _line: None)

    assert sitting.sit([], tmp_path, lambda _line: None).answers == ()


def test_an_exam_says_how_steady_its_machine_was(tmp_path: Path) -> None:
    """Of twenty paces the second slowest is half as slow again as the third fastest."""
    paces = [100] * 10 + [120] * 7 + [150] * 3
    (tmp_path / "paces.txt").write_text("".join(f"{pace}\n" for pace in paces))

    spread = exam_runs.spread(tmp_path)

    assert spread == 0.5
    assert "The same work took up to 50 % longer" in tables.as_markdown(result.Result((), (), spread))


def test_the_truth_of_the_project_can_be_read(scenarios: Path) -> None:
    """At least 25 planted causes, over four backends."""
    found = truths.load(scenarios / "faults")

    assert len({one.name for one in found}) >= 25
    assert {one.backend for one in found} >= {"tensorflow", "jax", "torch", "mxnet"}
