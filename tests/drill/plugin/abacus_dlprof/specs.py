"""The engine, and the environment that it runs in."""

from pathlib import Path

from dlprof.backends.base import BackendSpec
from dlprof.engines.base import EngineSpec

_HERE = Path(__file__).parent

ENGINE = EngineSpec(
    name="abacus",
    title="Abacus",
    module="abacus",
    distributions=("abacus",),
    probe=_HERE / "probe.py",
    window_format="abacus",
    packages=frozenset({"abacus"}),
)
BACKEND = BackendSpec(
    name="abacus",
    title="Abacus 1.4",
    lock=_HERE / "abacus.txt",
    python=">=3.11,<3.13",
    keras_backend="",
    engine="abacus",
    # A real engine comes with the packages of the lock.
    site_files=(_HERE.parent / "abacus.py",),
)
