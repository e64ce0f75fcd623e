"""Evidence that users can ask for again."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.finding import Query
from dlprof.schema.vocabulary import Phase, SpanKind
from dlprof.store import query as sql
from tests.unit import runs
from tests.unit.analysis.findings.cases import FIT, KERNELS, sampled
from tests.unit.runs import MS, S


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (queries.spans(SpanKind.SAVE), [("save", "save", "train.py", 7, 2, 3 * S)]),
        (queries.python_stood(Phase.FIT_CALLBACKS), [("<module>", "train.py", 7, "MainThread", S)]),
        (queries.python_stood(Phase.FIT_CALLBACKS, where="f.line > 7"), []),
        (queries.training_told("training.floatx", "batch_size"), [('"float32"', "128")]),
        (queries.operators(by="layer, op"), [("dense", "aten::mm", 10, 160 * MS)]),
        (queries.operators("layer = 'none'"), []),
        (queries.scheduled(), [(S, 3, 5, 6, 7)]),
    ],
)
def test_a_query_gives_its_rows(tmp_path: Path, query: Query, expected: list[object]) -> None:
    """As `dlprof sql RUN` does; frames of Keras are left out."""
    sample = {"time_ns": S, "interval_ns": S, "threads": 3, "run_ns": 5, "wait_ns": 6, "switches_involuntary": 7}
    run = runs.trained(
        tmp_path / "r",
        spans=[runs.fit_span(), runs.span("save", 2, 3), runs.span("save", 3, 5), runs.span("evaluate", 5, 6)],
        process_samples=[sample, {**sample, "run_ns": None}],
        **sampled((7, 8, FIT)),
        **runs.window(KERNELS),
    )

    assert sql.ask(run, query.sql).rows == expected
