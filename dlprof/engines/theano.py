"""Theano, and Lasagne on it."""

from dlprof.engines.base import EngineSpec, Switch

SPEC = EngineSpec(
    name="theano",
    title="Theano",
    seeding="call numpy.random.seed(0)",
    module="theano",
    distributions=("Theano", "theano"),
    keras_series="<2.4",
    packages=frozenset({"theano"}),
    threads_in_step=True,
    # Without a compiler each operator is Python; six times as slow on one script, and more where they are small.
    switches=(Switch("theano mode", 0.50), Switch("theano.config.cxx is empty: no C++ compiler", 0.80)),
)
