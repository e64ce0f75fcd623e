"""Caffe2: it has no version of its own, and no tracer."""

from dlprof_probes.inproc.engines.base import Engine


class Caffe2(Engine):
    """Known by its name only, so that it is told that there is no tracer for it."""

    name = module = "caffe2"
