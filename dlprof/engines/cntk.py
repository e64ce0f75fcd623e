"""CNTK."""

from dlprof.engines.base import EngineSpec

SPEC = EngineSpec(
    name="cntk",
    title="CNTK",
    module="cntk",
    distributions=("cntk",),
    keras_series="<2.4",
    window_format="cntk",
    packages=frozenset({"cntk"}),
)
