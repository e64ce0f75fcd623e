"""Which data sets a pipeline of tf.data is made of, where each was made, and the function that it calls.

TensorFlow's profiler tells the time of each stage, but not whose line asked for it. So the line is kept when a data
set is made, and told when the first iterator over it is.
"""

import weakref
from sys import _getframe

from dlprof_probes.inproc.clock import now

MOST_DATASETS = 200
"""Data sets of one pipeline that are told."""
MOST_PIPELINES = 100


class Datasets(object):
    """All data sets of the process.

    Args:
        recorder: `Recorder`.
        is_user_file: Whether a file's name is that of the user's own code.
    """

    def __init__(self, recorder, is_user_file):
        self._recorder = recorder
        self._is_user_file = is_user_file
        self._places = {}
        self._told = {}
        self._count = 0

    def made(self, _result, args):
        """A data set was made, by a line around this call."""
        key, places = id(args[0]), self._places
        place = self._recorder.user_line(_getframe(1))
        places[key] = (weakref.ref(args[0], lambda _gone: places.pop(key, None)), place)

    def iterated(self, _result, args):
        """An iterator was made: `OwnedIterator(dataset)`."""
        dataset = args[1] if len(args) > 1 else None
        key, told = id(dataset), self._told
        if key in told or not hasattr(dataset, "_inputs") or self._count >= MOST_PIPELINES:
            return
        told[key] = weakref.ref(dataset, lambda _gone: told.pop(key, None))
        self._count += 1
        self._recorder.datasets({"time_ns": now(), "datasets": self._chain(dataset)})

    def _chain(self, dataset):
        """The data set and what it reads from, each before its own inputs."""
        chain, waiting = [], [dataset]
        while waiting and len(chain) < MOST_DATASETS:
            one = waiting.pop()
            file, line = self._places.get(id(one), (None, ("", 0)))[1]
            inputs = list(one._inputs())
            chain.append([type(one).__name__, file, line, self._function(one), len(inputs)])
            waiting.extend(reversed(inputs))
        return chain

    def _function(self, dataset):
        """Name of the user's function that a data set calls; None: it calls none of his."""
        functions = dataset._functions() if hasattr(dataset, "_functions") else ()
        for wrapped in functions:
            function = getattr(wrapped, "_func", None)
            function = getattr(function, "func", function)  # of a `functools.partial`
            code = getattr(function, "__code__", None)
            if code is not None and self._is_user_file(code.co_filename):
                return str(getattr(function, "__qualname__", code.co_name))
        return None


def watch(probe, dataset, iterator):
    """Note where data sets are made, and what iterators go over.

    Args:
        probe: `Probe`.
        dataset: The class `DatasetV2`.
        iterator: The class `OwnedIterator`; None: this TensorFlow has none.
    """
    known = Datasets(probe.recorder, probe.is_user_file)
    for owner, hook in ((dataset, known.made), (iterator, known.iterated)):
        if owner is not None and "__init__" in vars(owner):
            guarded = probe.guard(hook, goes_on=True)
            probe.replace(owner, "__init__", lambda f, told=guarded: probe.wrappers.after(f, told), again=True)
