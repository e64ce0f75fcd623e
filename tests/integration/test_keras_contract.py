"""What quick tests claim of the stand-ins of Keras holds for the real ones, in their managed environments."""

from __future__ import annotations

from pathlib import Path

import dlprof_probes
import pytest

from dlprof.backends import registry
from dlprof.errors import DlprofError
from dlprof.launch import environments
from tests.contracts import keras_training
from tests.contracts.keras_contract import KerasContract
from tests.integration import runner

pytestmark = [pytest.mark.integration, pytest.mark.timeout(900)]


class RealKeras(KerasContract):
    """The program on the Keras of a backend's environment."""

    backend = ""

    @classmethod
    def run(cls, folder: Path) -> None:
        """In a process of its own; skipped where there is no interpreter that is old enough."""
        spec = registry.get(cls.backend)
        try:
            python = environments.ensure(spec, report=print).python
        except DlprofError as error:
            pytest.skip(str(error))
        env = {
            **spec.environment,
            "KERAS_BACKEND": spec.keras_backend,
            "KERAS_HOME": str(folder / "home"),
            "PYTHONPATH": str(Path(dlprof_probes.__file__).parents[1]),
        }
        done = runner.run([str(python), keras_training.__file__, str(folder)], cwd=folder, env=env)
        assert done.code == 0, done.err


def _classes() -> dict[str, type[RealKeras]]:
    """One class of tests a backend that trains Keras."""
    specs = [
        spec for spec in registry.all_specs().values() if spec.keras_backend and spec.trains and not spec.on_demand
    ]
    return {
        f"Test_{spec.name}": type(f"Test_{spec.name}", (RealKeras,), {"backend": spec.name, "__test__": True})
        for spec in specs
    }


RealKeras.__test__ = False  # type: ignore[attr-defined]
globals().update(_classes())
