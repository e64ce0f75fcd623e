"""What counting a line costs on this machine, measured when counting begins."""

from dlprof_probes.inproc import census
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.thinning import Cost

_TURNS = 150
_LINES = 3 * _TURNS
_AGAIN = 5


def _loop(turns):
    i = 0
    while i < turns:
        if i % 7 == 0:
            pass
        i += 1


def measured(make):
    """`Cost` of an event: a small loop with and without a profiler of its own; the fastest of some tries counts.

    Args:
        make: Makes a `line_profiler.LineProfiler`.
    """
    bare = min(_taken() for _ in range(_AGAIN))
    told = census.cost_of_event()
    profiler = make()
    profiler.add_function(_loop)
    profiler.enable()
    try:
        counted = min(_taken() for _ in range(_AGAIN))
    finally:
        profiler.disable()
    return Cost(max(10.0, (counted - bare) / float(_LINES)), told, 0.5 * bare / _LINES)


def _taken():
    start = now()
    _loop(_TURNS)
    return now() - start
