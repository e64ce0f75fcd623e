"""The stand-ins of the engines keep the contract that the real ones keep (`tests/integration/test_engine_contract.py`)."""

from __future__ import annotations

from pathlib import Path

from tests.contracts import engine_exercise
from tests.contracts.engine_contract import EngineContract, contracts
from tests.stand_ins.engines import versions


class StandIn(EngineContract):
    """The program of an engine on its stand-in."""

    @classmethod
    def run(cls, folder: Path) -> None:
        """In this process."""
        with versions.importable(cls.program.name):
            engine_exercise.run(cls.program(), str(folder))


globals().update(contracts(StandIn))
