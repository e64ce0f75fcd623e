"""Theano, and Lasagne on it."""

from dlprof.engines.base import EngineSpec, Switch

SPEC = EngineSpec(
    name="theano",
    title="Theano",
    module="theano",
    distributions=("Theano", "theano"),
    keras_series="<2.4",
    packages=frozenset({"theano"}),
    threads_in_step=True,
    switches=(Switch("theano mode", 0.50),),
)
