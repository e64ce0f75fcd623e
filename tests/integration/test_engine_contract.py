"""What quick tests claim of the stand-ins of engines holds for the real ones, in their managed environments."""

from __future__ import annotations

from pathlib import Path

import dlprof_probes
import pytest

from dlprof.backends import registry
from dlprof.backends.base import BackendSpec
from dlprof.errors import DlprofError
from dlprof.launch import environments
from tests.contracts import engine_exercise
from tests.contracts.engine_contract import EngineContract, contracts
from tests.integration import runner

pytestmark = [pytest.mark.integration, pytest.mark.timeout(900)]


def _backend(engine: str) -> BackendSpec | None:
    """A backend whose environment has the engine."""
    specs = registry.all_specs()
    return specs.get(engine) or next((spec for spec in specs.values() if spec.engine == engine), None)


class RealEngine(EngineContract):
    """The program of an engine, by the Python of a backend's environment."""

    @classmethod
    def run(cls, folder: Path) -> None:
        """In a process of its own; skipped where there is no interpreter that is old enough."""
        spec = _backend(cls.program.name)
        if spec is None:
            pytest.skip("no backend has this engine")
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
        done = runner.run([str(python), engine_exercise.__file__, cls.program.name, str(folder)], cwd=folder, env=env)
        assert done.code == 0, done.err


globals().update(contracts(RealEngine))
