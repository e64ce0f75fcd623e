"""CNTK."""

from dlprof.engines.base import EngineSpec

SPEC = EngineSpec(
    name="cntk",
    title="CNTK",
    seeding="call cntk.cntk_py.set_fixed_random_seed(0)",
    module="cntk",
    distributions=("cntk",),
    keras_series="<2.4",
    window_format="cntk",
    packages=frozenset({"cntk"}),
)
