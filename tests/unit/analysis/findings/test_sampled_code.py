"""Whose Python stood in the samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain
from dlprof.analysis.findings.sampled_code import SampledCode
from dlprof.schema.tree_paths import Tree
from tests.unit import runs
from tests.unit.analysis.findings.cases import FIT, keep_source, sampled

CALLED = [*FIT, ("on_batch_end", "keras/src/callbacks.py", 9), ("log", "train.py", 33)]
"""A callback of the user's."""
STANDING = [*FIT, ("on_batch_end", "keras/src/callbacks.py", 9)]
"""One of Keras."""


def code(path: Path, told: dict[str, Any] | None = None, **tables: Any) -> SampledCode:
    """That of a run with callbacks from 7 s to 8 s."""
    return Case(runs.trained(path / "r", told, **tables)).code


def test_a_share_is_that_of_the_sampled_time(tmp_path: Path) -> None:
    """0.3 of 0.8 s of stacks in callbacks are the user's."""
    mine = code(tmp_path, **sampled((7, 7.3, CALLED), (7.3, 7.8, STANDING)))

    assert mine.share([Tree.FIT_CALLBACKS], mine.is_called_back) == pytest.approx(0.3 / 0.8)


def test_a_stack_that_was_read_in_part_says_nothing_of_shares(tmp_path: Path) -> None:
    """0.3 of 0.8 s of whole stacks; 0.05 s more began where a callback's own function was called."""
    mine = code(tmp_path, **sampled((7, 7.3, CALLED), (7.3, 7.8, STANDING), (7.8, 7.85, CALLED[-1:])))

    assert mine.share([Tree.FIT_CALLBACKS], mine.is_called_back) == pytest.approx(0.3 / 0.8)


def test_where_most_stacks_were_read_in_part_all_are_looked_at(tmp_path: Path) -> None:
    """Of 0.8 s 0.3 s were read whole: they are no likeness of the rest."""
    torn = [(7.3 + 0.05 * n, 7.35 + 0.05 * n, [(f"f{n}", "keras/src/callbacks.py", 9)]) for n in range(10)]
    mine = code(tmp_path, **sampled((7, 7.3, CALLED), *torn))

    assert mine.share([Tree.FIT_CALLBACKS], mine.is_called_back) == pytest.approx(0.3 / 0.8)


LOG = {"file": "train.py", "function": "log", "first_line": 30, "line": 33, "source": "x"}


@pytest.mark.parametrize(
    ("line", "told", "expected"),
    [
        ({"hits": 5, "time_ns": 100_000_000, "how": "exact"}, {}, 0.1),
        ({"hits": 5, "time_ns": 900_000_000, "how": "exact"}, {}, 0.75),
        ({"hits": 5, "time_ns": 100_000_000, "how": "scaled"}, {}, 0.75),
        ({"hits": 5, "time_ns": 100_000_000, "how": "exact"}, {"exit_code": None, "signal": 9}, 0.75),
    ],
)
def test_stacks_have_no_more_time_in_a_line_than_was_counted_for_it(
    tmp_path: Path, line: dict[str, Any], told: dict[str, Any], expected: float
) -> None:
    """One stack of three parts of the second; not where the line was counted in windows, or was open at the end."""
    process = {"pid": 42, "exit_code": 0, "signal": None, "wall_ns": 10_000_000_000, **told}
    tables = sampled((7, 7.3, CALLED), (7.3, 7.4, STANDING))
    mine = code(tmp_path, runs.manifest(process=process), lines=[{**LOG, **line}], **tables)

    assert mine.bounded_share([Tree.FIT_CALLBACKS], mine.is_called_back) == pytest.approx(expected)


def test_of_other_threads_it_is_a_share_of_the_phase(tmp_path: Path) -> None:
    """They come and go: 0.3 s of the second."""
    mine = code(tmp_path, **sampled((7, 7.3, CALLED), thread="worker"))

    assert mine.share([Tree.FIT_CALLBACKS], mine.is_called_back, main=False) == pytest.approx(0.3)
    assert mine.share([Tree.FIT_CALLBACKS], mine.is_called_back) == 0.0


def test_the_hottest_line_is_the_innermost_of_the_users(tmp_path: Path) -> None:
    """Line 33 for 0.3 s, line 7 beneath it; a stack of Keras alone is the user's call of fit."""
    mine = code(tmp_path, **sampled((7, 7.3, CALLED), (7.3, 7.8, STANDING)))

    assert mine.hottest_line([Tree.FIT_CALLBACKS]) == ("train.py", 7)
    assert mine.hottest_line([Tree.FIT_CALLBACKS], mine.is_called_back) == ("train.py", 33)
    assert mine.hottest_line([Tree.SCRIPT]) is None


def test_a_line_that_the_table_of_lines_does_not_have_is_not_blamed(tmp_path: Path) -> None:
    """It was misread: a run whose lines were filled from samples has all that stood for sure."""
    row = {"file": "train.py", "function": "log", "first_line": 30, "time_ns": 1, "source": "x"}
    lines = [
        {**row, "line": 33, "hits": None, "how": "sampled", "samples": 6},
        {**row, "line": 34, "hits": 0, "how": "counted"},
        {**row, "line": 7, "hits": 1, "how": "counted"},
    ]
    misread = [*FIT, ("on_batch_end", "keras/src/callbacks.py", 9), ("log", "train.py", 34)]
    mine = code(tmp_path, lines=lines, **sampled((7, 7.3, CALLED), (7.3, 7.9, misread)))

    assert mine.hottest_line([Tree.FIT_CALLBACKS], mine.is_called_back) == ("train.py", 33)


@pytest.mark.parametrize(
    ("innermost", "feeds"),
    [(("put", "<python>/queue.py", 140), False), (("wait", "<python>/threading.py", 327), False), (None, True)],
)
def test_a_thread_that_waits_for_room_makes_no_batch(
    tmp_path: Path, innermost: tuple[str, str, int] | None, feeds: bool
) -> None:
    """Its queue is full: the training is what is slow."""
    thread = [("run", "<python>/threading.py", 982), ("fill", "train.py", 33), *([innermost] if innermost else [])]
    mine = code(tmp_path, **sampled((7, 7.3, thread), thread="worker"))

    assert [mine.feeds(sample) for sample in mine.samples] == [feeds]


def test_without_stacks_a_rule_abstains(tmp_path: Path) -> None:
    """The probe was off, or the run too short."""
    with pytest.raises(Abstain, match="no Python stack was sampled"):
        code(tmp_path).need_samples()


@pytest.mark.parametrize(
    ("version", "state", "expected"),
    [("3.11.7", "on", True), ("3.11.7", "off", False), ("3.12.0", "on", False), (None, "on", False)],
)
def test_counting_lines_is_owned_up_to_where_it_slows_code(
    tmp_path: Path, version: str | None, state: str, expected: bool
) -> None:
    """Before Python 3.12."""
    told = runs.manifest(interpreter={"version": version, "implementation": "cpython"})
    note = code(tmp_path, told, probes=[{"name": "lines", "state": state}]).counting_note(("train.py", 3))

    assert note.startswith("Trace it with --probes=-lines first: on Python 3.11.7 counting lines slows") == expected
    assert bool(note) == expected


@pytest.mark.parametrize(
    ("probe", "expected"),
    [
        ({"thinned": "lines counted", "tax_ns": 50_000_000}, False),
        ({"tax_ns": 50_000_000}, False),
        ({"tax_ns": 5_000_000_000}, True),
        ({"tax_ns": None}, True),
    ],
)
def test_lines_that_were_counted_within_the_budget_slowed_nothing(
    tmp_path: Path, probe: dict[str, Any], expected: bool
) -> None:
    """In windows, or because there were few; what the ledger says of it decides."""
    told = runs.manifest(interpreter={"version": "3.11.7", "implementation": "cpython"})
    note = code(tmp_path, told, probes=[{"name": "lines", "state": "on", **probe}]).counting_note(("train.py", 3))

    assert bool(note) == expected


def test_a_line_that_was_only_sampled_is_not_slowed_by_counting(tmp_path: Path) -> None:
    """As the user's input code is, inside of Keras."""
    told = runs.manifest(interpreter={"version": "3.11.7", "implementation": "cpython"})
    line = {"file": "train.py", "function": "item", "line": 3, "time_ns": 5, "how": "sampled"}

    mine = code(tmp_path, told, probes=[{"name": "lines", "state": "on"}], lines=[line])

    assert mine.counting_note(("train.py", 3)) == ""


def test_the_line_that_set_something_is_the_first_that_ran(tmp_path: Path) -> None:
    """What never ran did not set it."""
    line = {"file": "train.py", "function": "main", "time_ns": 5, "source": "model.compile(run_eagerly=True)"}
    lines = [{**line, "line": 3, "hits": 0}, {**line, "line": 9, "hits": 1}, {**line, "line": 12, "hits": 1}]
    mine = code(tmp_path, lines=lines)

    assert mine.line_with("float64", "run_eagerly=True") == ("train.py", 9)
    assert mine.line_with("float64") is None


def test_a_line_that_may_have_run_is_taken_where_none_is_known_to_have(tmp_path: Path) -> None:
    """Counted in windows, of which none met it: a cell that a model is made of was not found."""
    line = {"file": "train.py", "function": "main", "time_ns": 5, "source": "self.add(rnn.LSTMCell(8))"}
    never, unknown, known = {**line, "line": 3, "hits": 0}, {**line, "line": 9}, {**line, "line": 12, "hits": 1}

    assert code(tmp_path / "a", lines=[never, {**unknown, "hits": None}]).line_like(r"LSTMCell\(") == ("train.py", 9)
    assert code(tmp_path / "b", lines=[{**unknown, "hits": None}, known]).line_like(r"LSTMCell\(") == ("train.py", 12)
    assert code(tmp_path / "c", lines=[never]).line_like(r"LSTMCell\(") is None


def test_a_line_without_a_copy_of_its_file_has_no_text(tmp_path: Path) -> None:
    """Rules do without."""
    assert code(tmp_path).source("train.py", 3) == ""


def test_a_line_that_calls_what_the_engine_compiled_is_the_engine_s(tmp_path: Path) -> None:
    """False on a script that was mended: its innermost frame is the user's, and C++ runs."""
    detail = json.dumps({"compiled": {"function": "update", "again": False}})
    compiled = runs.span("graph_compile", 2, 2.5, span_id=9, detail=detail)
    run = runs.trained(tmp_path / "r", spans=[runs.fit_span(), compiled], **sampled((2, 3, FIT[:1]), (3, 4, FIT)))
    keep_source(run, "\n" * 6 + "params, loss = update(params, x)\n")
    mine = Case(run).code

    told = {len(sample.frames): mine.calls_compiled(sample) for sample in mine.samples}

    assert told == {1: True, 2: False}


@pytest.mark.parametrize(("source", "told"), [("def _update(x): ...\n", True), ("\n", False)], ids=["own", "other"])
def test_a_line_that_had_a_function_of_the_script_s_compiled_calls_it_by_whatever_name(
    source: str, told: bool, tmp_path: Path
) -> None:
    """`self.update = jax.jit(self._update)`; an operator of the engine's, which is compiled, too, says nothing."""
    detail = json.dumps({"compiled": {"function": "_update", "again": False}})
    compiled = runs.span("graph_compile", 2, 2.5, span_id=9, detail=detail)
    run = runs.trained(tmp_path / "r", spans=[runs.fit_span(), compiled], **sampled((2, 3, FIT[:1])))
    keep_source(run, source + "\n" * 5 + "params = self.update(params, x)\n")
    mine = Case(run).code

    assert [mine.calls_compiled(sample) for sample in mine.samples] == [told]


def test_a_line_that_asks_for_batches_runs_what_gives_them(tmp_path: Path) -> None:
    """False on a script that was mended: the line of the loop over a data set of the engine's."""
    asked = [FIT[0], ("__next__", "tensorflow/python/data/ops/iterator_ops.py", 826)]
    other = [("<module>", "train.py", 8)]
    run = runs.trained(tmp_path / "r", **sampled((2, 3, asked), (3, 4, FIT[:1]), (4, 5, other)))
    keep_source(run, "\n" * 6 + "for x, y in data:\n    total += float(x)\n")
    mine = Case(run).code

    told = {sample.frames[0].line: mine.turns_a_loop(sample) for sample in mine.samples if len(sample.frames) == 1}

    assert told == {7: True, 8: False}


@pytest.mark.parametrize(
    ("thinned", "seen"), [({}, 60), ({"thinned": "samples per second", "thinned_to_value": 5.0}, 15)]
)
def test_fewer_samples_are_seen_where_sampling_was_thinned(tmp_path: Path, thinned: dict[str, Any], seen: int) -> None:
    """3 s in a stack, at 20 samples a second or at 5."""
    stood = sampled((2, 5, [("<module>", "train.py", 3)]))
    probes = [{"name": "stacks", "state": "on", **thinned}]
    found = code(tmp_path, None, probes=probes, **stood).support([Tree.FIT_STEPS], lambda _sample: True)

    assert found.seen == pytest.approx(seen)


def test_a_line_of_a_cell_may_be_the_hottest(tmp_path: Path) -> None:
    """Nobody counts its lines; its file is known from a call of `fit` there. Line 12 of a file that is counted was misread."""
    cell = [("<module>", "train.py", 33), ("<module>", "<ipython-input-2>", 5)]
    counted = {
        "file": "train.py",
        "function": "log",
        "first_line": 30,
        "line": 33,
        "hits": 1,
        "time_ns": 1,
        "how": "exact",
    }
    call = runs.span("fit", 2, 8, name="fit", span_id=9, file="<ipython-input-2>", line=3)
    stood = sampled((7, 7.4, cell), (7.4, 8, [("<module>", "train.py", 12)]))
    mine = code(tmp_path, lines=[counted], spans=[call], **stood)

    assert mine.hottest_line([Tree.FIT_CALLBACKS]) == ("<ipython-input-2>", 5)
