"""Chainer: operators run one by one."""

from dlprof.engines.base import EngineSpec

SPEC = EngineSpec(
    name="chainer",
    title="Chainer",
    module="chainer",
    distributions=("chainer",),
    window_format="chainer",
    packages=frozenset({"chainer"}),
)
