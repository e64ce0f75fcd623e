import numpy

from .python.client.session import BaseSession, nodes


class Node:
    def __init__(self, compute, name):
        self.compute = compute
        self.name = name + ":0"
        nodes[self.name] = self


class RunMetadata:
    operators = 0

    def SerializeToString(self):
        return b"metadata%d" % self.operators


class _Graph:
    def as_default(self):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


class v1:
    RunMetadata = RunMetadata
    Graph = _Graph
    Session = BaseSession

    @staticmethod
    def RunOptions(trace_level):
        return {"trace_level": trace_level}

    @staticmethod
    def placeholder(kind, shape, name):
        return Node(lambda feeds: feeds[name + ":0"], name)

    @staticmethod
    def placeholder_with_default(value, shape, name):
        return Node(lambda feeds: feeds.get(name + ":0", value), name)

    @staticmethod
    def multiply(one, factor):
        return Node(lambda feeds: one.compute(feeds) * factor, "multiply")

    @staticmethod
    def add(one, other, name):
        return Node(lambda feeds: numpy.asarray(one.compute(feeds) + other.compute(feeds)), name)
