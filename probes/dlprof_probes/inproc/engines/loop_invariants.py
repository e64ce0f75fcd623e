"""Products in a loop of a graph that have the same value in each of its rounds: they depend on nothing that changes.

TensorFlow computes them again and again (its optimiser takes nothing out of such a loop), and their gradients as often.
"""

from dlprof_probes import wire
from dlprof_probes.inproc.clock import now

_BODY = "WhileBodyFuncGraph"
_PRODUCTS = ("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "Conv1D", "Conv2D", "Conv3D")
_READS = ("ReadVariableOp", "ResourceGather")
_MOST = 100
"""Products that are told of a run."""


class LoopInvariants(object):
    """Tells them, each as an instant at the line that asks for it."""

    def __init__(self, probe):
        self._probe = probe
        self._told = 0

    def of_tensorflow(self, graph):
        """Those of a graph that was traced, where it is what a loop does in each round."""
        if type(graph).__name__ != _BODY:
            return
        nodes = graph.get_operations()
        same = {id(one) for one in graph.internal_captures}
        written = {id(each) for one in nodes if one.type not in _READS for each in _resources(one)}
        for node in nodes:  # in the order in which they were made: what a node takes comes before it
            if not _is_same(node, same, written):
                continue
            same.update(id(one) for one in node.outputs)
            if node.type in _PRODUCTS and any(id(one) in same for one in node.inputs):
                self._tell(node)

    def _tell(self, node):
        if self._told >= _MOST:
            return
        self._told += 1
        recorder, time_ns = self._probe.recorder, now()
        frames = reversed([(one.filename, one.lineno) for one in node.traceback or ()])
        place = next((one for one in frames if self._probe.is_user_file(one[0])), ("", 0))
        span = recorder.begin_at(wire.SpanKind.REPEATED_PRODUCT, node.name, time_ns, (place[0], place[1] or 0))
        recorder.end(span, time_ns)


def _is_same(node, same, written):
    """Whether what a node gives is the same in each round.

    Args:
        node: It.
        same: Identities of tensors that are.
        written: Those of the variables that the loop may write to.
    """
    if node.type == "Const":
        return True
    inputs = list(node.inputs)
    if not inputs or any(id(one) not in same for one in inputs):
        return False
    if node.type in _READS:
        return not any(id(one) in written for one in inputs)
    return not node.op_def.is_stateful


def _resources(node):
    return [one for one in node.inputs if one.dtype.name == "resource"]
