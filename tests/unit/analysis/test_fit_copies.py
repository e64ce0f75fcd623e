"""Copies that `fit` makes of all the data that it is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import fit_copies
from dlprof.analysis.fit_copies import FitCopy
from tests.unit.analysis.memory_runs import MB, split
from tests.unit.runs import fit_span, steps, trained


def of(folder: Path, kind: str, before: int, after: int, later: int | None = None, **facts: Any) -> tuple[FitCopy, ...]:
    """Of 200 MB (400 of float64) that `fit` is given at 2 s; the first step begins at 3 s, the last ends at 8 s."""
    data = [{"shape": [50_000, 1000], "dtype": kind}, {"shape": [50_000], "dtype": "float32"}]
    levels = [(1.0, before), (2.0, before), (2.9, after), (3.0, after), (6.0, after if later is None else later)]
    samples = [split(time, level * MB) for time, level in levels]
    spans = [{**fit_span(data=data, **facts), "file": "train.py", "line": 9}]
    tables: dict[str, Any] = {"process_samples": samples, "steps": steps(250, start_s=3), "spans": spans}
    return fit_copies.of_run(trained(folder / "r", **tables))


def test_memory_that_grows_by_the_data_is_a_copy(tmp_path: Path) -> None:
    """TensorFlow makes tensors of arrays."""
    (found,) = of(tmp_path, "float32", 500, 705)

    assert found == FitCopy(1, "train.py", 9, 200_200_000, 205 * MB, "float32", "float32")


def test_data_of_another_type_is_copied_as_floats_of_keras(tmp_path: Path) -> None:
    """400 MB of float64 become 200."""
    (found,) = of(tmp_path, "float64", 500, 702)

    assert (found.given_bytes, found.copy_bytes, found.made_type) == (400_200_000, 202 * MB, "float32")


def test_what_is_given_back_behind_the_last_step_was_held_while_it_trained(tmp_path: Path) -> None:
    """`fit` does that before it returns; the last step of these ended at 4 s."""
    data = [{"shape": [50_000, 1000], "dtype": "float32"}]
    samples = [split(time, level * MB) for time, level in [(1.0, 500), (2.0, 500), (3.0, 705), (4.0, 705), (7.5, 500)]]
    tables: dict[str, Any] = {"process_samples": samples, "steps": steps(50, start_s=3)}

    (found,) = fit_copies.of_run(trained(tmp_path / "r", spans=[fit_span(data=data)], **tables))

    assert found.copy_bytes == 205 * MB


CLEAN = {
    "no growth": ("float32", 500, 510, None),
    "growth of another size": ("float32", 500, 620, None),
    "far more than the data": ("float32", 500, 900, None),
    "what is given back while it trains": ("float32", 500, 705, 540),
}


@pytest.mark.parametrize("name", CLEAN)
def test_other_growth_is_no_copy(tmp_path: Path, name: str) -> None:
    """It is an engine that starts, or weights."""
    assert of(tmp_path, *CLEAN[name]) == ()


def told(rss: int, anonymous: int, after_ns: int = 20_000) -> dict[str, Any]:
    """What the process says of its memory at the call (MB)."""
    return {
        "after_ns": after_ns,
        "rss_bytes": rss * MB,
        "anonymous_bytes": anonymous * MB,
        "source": "/proc/self/statm",
    }


def test_data_that_the_script_makes_right_before_the_call_are_no_copy(tmp_path: Path) -> None:
    """The samples around the call know nothing of it: 500 MB before, 705 MB after; the process itself held 703 by then."""
    assert of(tmp_path, "float32", 500, 705, memory=told(1000, 703)) == ()


def test_what_the_script_gives_back_right_before_the_call_hides_no_copy(tmp_path: Path) -> None:
    """It held 705 MB at the sample before, and 500 at the call."""
    (found,) = of(tmp_path, "float32", 705, 705, memory=told(800, 500))

    assert found.copy_bytes == 205 * MB


UNTOLD = {
    "null": None,
    "not all of it": {"after_ns": 5, "rss_bytes": 1000 * MB},
    "no numbers": {"after_ns": 5, "rss_bytes": "many", "anonymous_bytes": None},
    "no object": [1, 2, 3],
}


@pytest.mark.parametrize("name", UNTOLD)
def test_without_the_process_s_word_the_samples_around_the_call_count(tmp_path: Path, name: str) -> None:
    """As for runs of an older dlprof, and where there is no /proc."""
    (found,) = of(tmp_path, "float32", 500, 705, memory=UNTOLD[name])

    assert found.copy_bytes == 205 * MB


def test_data_that_is_no_array_is_not_known(tmp_path: Path) -> None:
    """A generator's, for example."""
    spans = [{**fit_span(), "detail": "{}"}]
    samples = [split(2.0, 500 * MB), split(3.0, 900 * MB)]

    assert fit_copies.of_run(trained(tmp_path / "r", process_samples=samples, spans=spans)) == ()
