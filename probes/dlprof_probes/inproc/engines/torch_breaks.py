"""Where torch.compile had to end a graph, and why: its own list of reasons, read after each compilation."""

import sys

from dlprof_probes import wire
from dlprof_probes.inproc.clock import now

_UTILS = "torch._dynamo.utils"
_LONGEST = 300


class GraphBreaks(object):
    """Tells the breaks that a compilation has added to torch's list.

    Args:
        probe: `Probe`.
    """

    def __init__(self, probe):
        self._probe = probe
        self._known = len(_reasons())

    def compiled(self, _token, _args):
        """A compilation is over, also one that failed."""
        reasons, known = _reasons(), self._known
        self._known = len(reasons)
        for reason in reasons[known if known <= len(reasons) else 0 :]:  # `torch._dynamo.reset` empties the list
            self._tell(reason)

    def _tell(self, reason):
        recorder, time_ns = self._probe.recorder, now()
        text = str(reason.reason).strip().partition("\n")[0][:_LONGEST]
        span = recorder.begin_at(wire.SpanKind.GRAPH_BREAK, text, time_ns, self._place(reason.user_stack))
        recorder.end(span, time_ns)

    def _place(self, stack):
        """The innermost line of the user's own code; where there is none, the innermost of all."""
        own = [one for one in stack if self._probe.is_user_file(one.filename)] or list(stack)
        return (own[-1].filename, own[-1].lineno or 0) if own else ("", 0)


def watch(probe, dynamo):
    """Listen to compilations."""
    probe.around(dynamo, "_compile", lambda _args: None, GraphBreaks(probe).compiled, again=True)


def _reasons():
    return getattr(sys.modules.get(_UTILS), "graph_break_reasons", ())
