"""Imports that the training does not need, and those of a pair."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings import diagnose
from tests.unit import runs
from tests.unit.analysis.findings.cases import Planted, Tables, compared, cpu, lasting, parts, pick, quiet, slugs
from tests.unit.runs import S


def planted() -> Planted:
    """Pandas for 1 s; keras itself, and what it imports, is needed."""
    imports = [
        runs.span("import", 0, 1, name="keras", span_id=3),
        runs.span("import", 0.2, 0.6, name="sympy", span_id=4, parent_id=3),
        runs.span("import", 1, 2, name="pandas", span_id=5, line=2),
    ]
    return Planted(quiet(spans=[runs.fit_span(), *imports]))


def imported(seconds: float, pages: int) -> Tables:
    """A run whose import takes so long, with so many pages read from disk."""
    rows = cpu((0.5, {"faults_major": pages}), (7.5, {"faults_major": pages}))
    return quiet(
        phases=parts(import_=seconds, fit_steps=8 - seconds, teardown=2),
        **rows,
        spans=[runs.fit_span(), runs.span("import", 0, seconds, name="torch", span_id=3)],
    )


def test_imports_beyond_keras_and_its_engine_are_named(tmp_path: Path) -> None:
    """Pandas for 1 s; keras itself, and what it imports, is needed."""
    finding = pick(planted().diagnosis(tmp_path), "import-heavy")

    assert (finding.at_stake_ns, finding.line) == (S, 2)
    assert finding.claim.startswith("Importing pandas takes 1.00 s")


@pytest.mark.parametrize("measured", [False, True])
def test_an_import_is_a_cause_where_page_faults_were_not_measured(tmp_path: Path, measured: bool) -> None:
    """Not measured is not 0: a run that read 200 pages is not called cold beside one of which nothing is known."""
    slow = Planted({**imported(4, 200), "phases": parts(import_=4, fit_steps=6, teardown=2)}, lasting(12))
    fast = Planted(imported(2, 20))
    for row in fast.tables["process_samples"]:
        row["faults_major"] = 20 if measured else None

    assert ("import-heavy" in slugs(diagnose.diagnose_gap(compared(slow, fast, tmp_path)))) != measured


@pytest.mark.parametrize(("pages", "named"), [(200, False), (20, True)])
def test_an_import_that_had_to_read_from_disk_is_no_cause(tmp_path: Path, pages: int, named: bool) -> None:
    """Imports of 4 s and of 2: where one read 200 pages from disk and the other 20, a second run would be as fast."""
    slow = Planted({**imported(4, pages), "phases": parts(import_=4, fit_steps=6, teardown=2)}, lasting(12))
    diagnosis = diagnose.diagnose_gap(compared(slow, Planted(imported(2, 20)), tmp_path))
    because = [rule.because for rule in diagnosis.abstained if rule.slug == "import-heavy"]

    assert ("import-heavy" in slugs(diagnosis)) == named
    assert any("read from disk" in text for text in because) != named


@pytest.mark.parametrize(
    ("keras", "title", "needed"),
    [
        (runs.manifest()["keras"], "Starting the process and importing Keras took longer", "Keras and its engine"),
        (None, "Starting the process and its imports took longer", "the engine"),
    ],
)
def test_keras_is_named_only_where_it_was_imported(
    tmp_path: Path, keras: dict[str, str] | None, title: str, needed: str
) -> None:
    """A script of PyTorch alone was told that importing Keras took longer."""
    phases = parts(import_=4, fit_steps=6, teardown=2)
    slow = Planted({**imported(4, 20), "phases": phases}, {**lasting(12), "keras": keras})
    finding = pick(diagnose.diagnose_gap(compared(slow, Planted(imported(2, 20)), tmp_path)), "import-heavy")

    assert finding.heading == title
    assert finding.claim.startswith(f"Starting and ending the process, importing {needed}, takes 2.00 s more")


def started(waited_s: float) -> dict[str, int]:
    """Counters behind an import in which the main thread computed for a second, and waited so long for a core."""
    ran = {"run_ns": S, "main_run_ns": S}
    return {**ran, "wait_ns": int(waited_s * S), "main_wait_ns": int(waited_s * S), "faults_major": 20}


def importing(seconds: float, waited_s: float) -> Tables:
    """A run whose import takes so long."""
    told = started(waited_s)
    return {
        **imported(seconds, 20),
        "phases": parts(import_=seconds, fit_steps=6, teardown=2),
        "phase_intervals": runs.intervals(("import", 0, seconds), ("fit.steps", seconds, seconds + 6)),
        **cpu((seconds, told), (seconds + 6, told)),
    }


def test_a_start_that_waited_is_no_matter_of_its_imports(tmp_path: Path) -> None:
    """Of 2 s more, 1.5 s without a core and half of one standing still."""
    slow, fast = Planted(importing(4, 1.5), lasting(12)), Planted(importing(2, 0))
    finding = pick(diagnose.diagnose_gap(compared(slow, fast, tmp_path)), "import-heavy")

    assert finding.heading == "Starting and ending the process waited longer"
    assert finding.claim.endswith(
        "By samples, the main thread spent 1.50 s more waiting for a core that others had, 500 ms more standing still "
        "(a disk, another process, a lock)."
    )
    assert finding.next_step.startswith("Stop what else runs on the machine")


def test_a_module_that_the_other_run_does_not_import_is_named_with_its_line(tmp_path: Path) -> None:
    """Of 2 s more, 1.5 s are pandas'; the rest is of the start."""
    script, pandas = runs.span("script", 0, 9, span_id=9), {"name": "pandas", "span_id": 4, "parent_id": 9, "line": 3}
    tables = imported(4, 20)
    spans = [*tables["spans"], script, runs.span("import", 2, 3.5, **pandas)]
    slow = Planted({**tables, "spans": spans, "phases": parts(import_=4, fit_steps=6, teardown=2)}, lasting(12))

    new, start = diagnose.diagnose_gap(compared(slow, Planted(imported(2, 20)), tmp_path)).findings

    assert new.claim.startswith("Importing pandas (1.50 s), which b does not import, takes 1.50 s more")
    assert (new.at_stake_ns, new.line) == (1.5 * S, 3)
    assert (start.slug, start.at_stake_ns) == ("import-heavy", S // 2)
