"""Chainer: operators run one by one."""

from dlprof.engines.base import EngineSpec

SPEC = EngineSpec(
    name="chainer",
    title="Chainer",
    seeding="call numpy.random.seed(0)",
    module="chainer",
    distributions=("chainer",),
    window_format="chainer",
    packages=frozenset({"chainer"}),
)
