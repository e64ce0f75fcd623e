"""What the cores of a machine can do at most: measured once, kept, and never lowered."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from dlprof.launch import ceilings, processor
from dlprof.schema.manifest import Ceilings


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of two cores on which nothing was measured."""
    monkeypatch.setenv("DLPROF_DATA", str(tmp_path))
    monkeypatch.setattr(processor, "name", lambda: "Some CPU")
    monkeypatch.setattr(processor, "has", lambda _feature: False)
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: {0, 1})


def measured(float32: float, moved: float, cores: int = 2) -> Ceilings:
    """What was measured."""
    return Ceilings(cpu="Some CPU", cores=cores, flops_per_s={"float32": float32}, bytes_per_s=moved)


def tell(monkeypatch: pytest.MonkeyPatch, found: Ceilings) -> None:
    """Let a measurement find this."""
    answer = SimpleNamespace(stdout=msgspec.json.encode(found))
    monkeypatch.setattr(subprocess, "run", lambda *_args, **_options: answer)


def test_nothing_is_known_before_it_was_measured() -> None:
    """It is not measured unasked: that takes two seconds."""
    assert ceilings.known() is None


def test_what_was_measured_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """For all traces from then on."""
    tell(monkeypatch, measured(5e10, 2e10))

    assert ceilings.measure() == ceilings.known() == measured(5e10, 2e10)


def test_a_busy_machine_lowers_no_ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each figure is the best that was ever seen."""
    tell(monkeypatch, measured(5e10, 2e10))
    ceilings.measure()
    tell(monkeypatch, measured(3e10, 4e10))

    assert ceilings.measure() == measured(5e10, 4e10)


def test_the_widest_code_that_the_processor_has_is_measured_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library may choose that of an older one, and engines do not: the better figure is the ceiling."""
    monkeypatch.setattr(processor, "has", lambda feature: feature == "avx512f")
    rates = {"": 26e10, "SkylakeX": 46e10}

    def runs(*_args: object, env: dict[str, str], **_options: object) -> SimpleNamespace:
        found = measured(rates[env.get("OPENBLAS_CORETYPE", "")], 2e10)
        return SimpleNamespace(stdout=msgspec.json.encode(found))

    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)
    monkeypatch.setattr(subprocess, "run", runs)

    assert ceilings.measure() == measured(46e10, 2e10)


def test_with_other_cores_it_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that may use two of eight cannot do what eight can."""
    tell(monkeypatch, measured(5e10, 2e10, cores=8))
    ceilings.measure()

    assert ceilings.known() is None


def test_what_is_no_measurement_is_not_taken_for_one(tmp_path: Path) -> None:
    """A file that was cut."""
    (tmp_path / "ceilings.json").write_bytes(b'{"cpu":"Some')

    assert ceilings.known() is None


def test_a_measurement_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process ended otherwise than well."""

    def fails(*_args: object, **_options: object) -> None:
        raise subprocess.CalledProcessError(1, "python")

    monkeypatch.setattr(subprocess, "run", fails)

    assert ceilings.measure() is None


@pytest.mark.slow
def test_this_machine_multiplies_and_copies() -> None:
    """More than a million operations and bytes a second: the measurement itself."""
    found = ceilings.taken()

    assert found.flops_per_s["float32"] > 1e6
    assert found.flops_per_s["float64"] > 1e6
    assert found.bytes_per_s > 1e6
