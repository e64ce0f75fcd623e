"""Large arrays that became constants of a graph: the program that is made of it holds a copy of each.

A function that closes over an array, or makes one of a NumPy array while it is traced, has it as a constant; as an
argument it would be held once.
"""

from dlprof_probes import wire
from dlprof_probes.inproc.clock import now

LEAST = 1 << 20
"""Bytes; smaller ones matter to nobody."""
_MOST = 100
"""Constants that are told of a run."""
_FRAMES = 200


class GraphConstants(object):
    """Tells them, each as an instant at the line that uses it."""

    def __init__(self, probe):
        self._probe = probe
        self._told = 0

    def of_jax(self, function, closed):
        """Those of a function that was traced.

        Args:
            function: What was traced.
            closed: Its `ClosedJaxpr`.
        """
        values = getattr(closed, "consts", None) or ()
        large = [number for number, value in enumerate(values) if _size(value) >= LEAST]
        for number in large:
            value, variable = values[number], closed.jaxpr.constvars[number]
            user = next((one for one in closed.jaxpr.eqns if any(each is variable for each in one.invars)), None)
            trace = getattr(getattr(user, "source_info", None), "traceback", None)
            frames = [(one.file_name, one.line_num) for one in list(getattr(trace, "frames", ()))[:_FRAMES]]
            name = getattr(function, "__name__", "?")
            self._tell(name, tuple(value.shape), str(value.dtype), _size(value), frames)

    def of_tensorflow(self, graph):
        """Those of a graph that was traced: its nodes, not what it captures, which it does not copy."""
        for node in graph.get_operations():
            if node.type != "Const":
                continue
            output = node.outputs[0]
            size = (output.shape.num_elements() or 0) * (output.dtype.size or 0)
            if size >= LEAST:
                frames = [(one.filename, one.lineno) for one in list(node.traceback or ())[-_FRAMES:]]
                shape = tuple(output.shape.as_list())
                self._tell(getattr(graph, "name", "?"), shape, output.dtype.name, size, frames[::-1])

    def _tell(self, function, shape, kind, size, frames):
        """Record one.

        Args:
            function: Name of the function that has it.
            shape: Of the array.
            kind: Its type.
            size: Its bytes.
            frames: File and line of what uses it, innermost first.
        """
        if self._told >= _MOST:
            return
        self._told += 1
        recorder, time_ns = self._probe.recorder, now()
        place = next((one for one in frames if self._probe.is_user_file(one[0])), ("", 0))
        text = "%s[%s]" % (kind, "x".join(str(length) for length in shape))
        span = recorder.begin_at(wire.SpanKind.GRAPH_CONSTANT, text, time_ns, (place[0], place[1] or 0))
        recorder.detail(span, {"constant": {"function": str(function), "bytes": int(size)}})
        recorder.end(span, time_ns)


def _size(value):
    size = getattr(value, "nbytes", 0)
    return size if isinstance(size, int) else 0
