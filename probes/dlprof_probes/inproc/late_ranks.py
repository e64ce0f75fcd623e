"""Workers that make themselves ranks of a training, by `init_process_group` of `torch.distributed`.

Until then they are workers like any other. A traceback of that call has no line of this file: the probe that begins
takes those of its package out.
"""

import sys
from functools import wraps

from dlprof_probes.inproc.clock import now

_NAME = "init_process_group"
_PACKAGE = "torch.distributed"
_MODULE = "torch.distributed.distributed_c10d"


def wait(module, begin):
    """Have `begin` called before a process group is made for the first time.

    Args:
        module: `torch.distributed.distributed_c10d`.
        begin: Begins the probes; they may replace functions of the module.
    """
    original = getattr(module, _NAME)
    waiting = [begin]

    @wraps(original)
    def init_process_group(*args, **named):
        if waiting:
            waiting.pop()
            _exchange(module, init_process_group, original)
            try:
                begin()
            except Exception:  # the program goes its way
                pass
        return original(*args, **named)

    _exchange(module, original, init_process_group)


def _exchange(module, before, after):
    """Put a function in the place of another one, wherever programs take it from."""
    for holder in (module, sys.modules.get(_PACKAGE)):
        if holder is not None and vars(holder).get(_NAME) is before:
            setattr(holder, _NAME, after)


class ForkedRanks(object):
    """Has a child that was forked traced, where it makes itself a rank.

    Args:
        settings: The module `follow_settings`.
        end_probe: Takes back what the probe of the process that forked has replaced.
        start_rank: Begins to trace this process, as `followed.start_rank` does.
    """

    def __init__(self, settings, end_probe, start_rank):
        self._settings = settings
        self._end_probe = end_probe
        self._start_rank = start_rank

    def forked(self):
        """This is a forked child: what it was before is recorded no more."""
        boot_ns, module = now(), sys.modules.get(_MODULE)
        if module is not None and hasattr(module, _NAME):
            wait(module, lambda: self._begin(boot_ns))

    def _begin(self, boot_ns):
        known = set(sys.modules)
        self._end_probe()
        self._start_rank(self._settings, "torch", boot_ns, known)
