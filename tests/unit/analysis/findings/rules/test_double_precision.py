"""Models of 64-bit floats."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings import diagnose
from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, Planted, keep_source, longer, on, pick, quiet, slugs
from tests.unit.analysis.findings.foreign import abstained, found
from tests.unit.runs import S


def planted() -> Planted:
    """The float type and the weights are of 64 bits."""
    return Planted(
        quiet(spans=[runs.fit_span(training={"floatx": "float64", "weights": {"count": 10, "dtype": "float64"}})])
    )


def test_64_bit_floats_cost_a_part_of_the_kernels(tmp_path: Path) -> None:
    """16 of each 20 ms are kernels: 4.8 s, of which 0.35 on torch."""
    finding = pick(planted().diagnosis(tmp_path), "double-precision")

    assert finding.at_stake_ns == pytest.approx(0.35 * 4.8 * S, rel=0.01)


@pytest.mark.slow
def test_kernels_of_a_real_trace_tell_their_floats() -> None:
    """saxpy(double *, ...) is all that runs: half of 88.6 ms."""
    finding = found("nsys_sqlite/pipit_saxpy_mpi_a100.sqlite", "double-precision")

    assert finding is not None
    assert finding.at_stake_ns / 1e6 == pytest.approx(44.3, rel=0.01)


def test_a_real_trace_of_single_floats_does_not_show_it() -> None:
    """And its names are known, so that the rule need not abstain."""
    assert found("hta_rank0.json.gz", "double-precision") is None
    assert abstained("hta_rank0.json.gz", "double-precision") is None


def test_where_the_engine_works_on_all_of_the_steps_is_slower(tmp_path: Path) -> None:
    """A loop of JAX: most of what kernels take is in waits for them, so that 0.55 of 5.4 s in steps are at stake.

    Of these 2.97 s another rule, which is asked before, has 0.15 s.
    """
    told = {"weights": {"dtype": "float64"}}
    run = Planted(quiet(spans=[runs.fit_span(training=told)]), {**on("jax", asynchronous=True), "keras": None})
    finding = pick(run.diagnosis(tmp_path), "double-precision")

    assert finding.at_stake_ns == pytest.approx(2.82 * S, rel=0.01)
    assert "jax_enable_x64" in finding.next_step


def test_a_loop_of_the_script_s_own_has_its_floats_from_numpy(tmp_path: Path) -> None:
    """No setting of Keras made them 64 bits wide: the line is one that makes variables of arrays."""
    row = {"file": "train.py", "function": "f", "first_line": 1, "line": 9, "hits": 1, "time_ns": 0}
    lines = [{**row, "source": "self.weights.append(tf.Variable(start))"}]
    span = runs.fit_span(training={"weights": {"dtype": "float64"}}, how="inferred")
    finding = pick(Planted(quiet(spans=[span], lines=lines), on("tensorflow")).diagnosis(tmp_path), "double-precision")

    assert finding.line == 9
    assert "what is made of arrays of NumPy has their type" in finding.next_step
    assert finding.fix == "array.astype('float32') before it becomes the engine's"
    assert finding.remedy is None


def test_a_type_that_a_loop_of_its_own_is_given_is_changed_where_it_stands(tmp_path: Path) -> None:
    """The line as it should be, not what NumPy makes."""
    row = {"file": "train.py", "function": "f", "first_line": 1, "line": 2, "hits": 1, "time_ns": 0}
    span = runs.fit_span(training={"weights": {"dtype": "float64"}}, how="inferred")
    told = {**on("torch"), "keras": None}
    run = runs.trained(tmp_path / "r", told, **quiet(spans=[span], lines=[{**row, "source": "net = Net().double()"}]))
    keep_source(run, "\nnet = Net().double()\n")
    finding = pick(diagnose.diagnose(run), "double-precision")

    assert "+net = Net().float()" in str(finding.fix)
    assert (finding.line, finding.remedy) == (2, None)


def test_all_that_kernels_take_longer_than_those_of_32_bits_is_theirs(tmp_path: Path) -> None:
    """36 against 16 ms of each step; before, a third of it, and the rest was an operator to be replaced."""
    slow = longer(6, **runs.window([{**KERNELS[0], "ms": 36}], dur_ms=40))
    double = {**slow.tables, "spans": planted().tables["spans"]}
    diagnosis = Planted(double, slow.told, against=Planted(quiet())).diagnosis(tmp_path)

    assert pick(diagnosis, "double-precision").at_stake_ns == pytest.approx(6 * S, rel=0.02)
    assert "slow-kernel" not in slugs(diagnosis)


def test_beside_a_run_of_32_bits_it_is_all_that_kernels_take_longer(tmp_path: Path) -> None:
    """32 of 40 ms beside 16 of 20: 4.8 s of 6, not 0.35 of these."""
    kernels = runs.window([{**KERNELS[0], "ms": 32}], dur_ms=40)
    slow = longer(6, spans=planted().tables["spans"], **kernels)
    single = quiet(spans=[runs.fit_span(training={"weights": {"count": 10, "dtype": "float32"}})])
    finding = pick(Planted(slow.tables, slow.told, against=Planted(single)).diagnosis(tmp_path), "double-precision")

    assert finding.at_stake_ns == pytest.approx(4.8 * S, rel=0.02)
