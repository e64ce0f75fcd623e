"""Workers that make themselves ranks of a training, by a function of their engine (`MAKERS`).

Until then they are workers like any other. A traceback of that call has no line of this file: the probe that begins
takes those of its package out.
"""

import os
import sys
from functools import partial, wraps

from dlprof_probes.inproc.clock import now


class Maker(object):
    """A function that makes its process a rank.

    Args:
        engine: Name of its package.
        name: The function's.
        owner: Name of the class that has it, in its module; None: the module itself.
        also: Module that programs take it from, besides its own.
        told_by: Variable without which it makes no rank; None: it always does.
    """

    def __init__(self, engine, name, owner=None, also=None, told_by=None):
        self.engine = engine
        self._name = name
        self._owner = owner
        self._also = also
        self._told_by = told_by

    def wait(self, module, begin):
        """Have `begin` called before the function makes this process a rank for the first time.

        Args:
            module: The module that has it.
            begin: Begins the probes; they may replace functions of the module.
        """
        owner = getattr(module, self._owner, None) if self._owner else module
        original = vars(owner).get(self._name) if owner is not None else None
        if original is None:  # another version of the engine
            return
        waiting = [begin]

        @wraps(original)
        def made(*args, **named):
            if waiting and (self._told_by is None or os.environ.get(self._told_by)):
                waiting.pop()
                self._exchange(owner, made, original)
                try:
                    begin()
                except Exception:  # the program goes its way
                    pass
                return vars(owner).get(self._name, original)(*args, **named)  # the probes may have replaced it
            return original(*args, **named)

        self._exchange(owner, original, made)

    def _exchange(self, owner, before, after):
        """Put a function in the place of another one, wherever programs take it from."""
        for holder in (owner, sys.modules.get(self._also)):
            if holder is not None and vars(holder).get(self._name) is before:
                setattr(holder, self._name, after)


MAKERS = {
    "torch.distributed.distributed_c10d": Maker("torch", "init_process_group", also="torch.distributed"),
    "jax._src.distributed": Maker("jax", "initialize", owner="State"),
    "tensorflow.python.distribute.collective_all_reduce_strategy": Maker(
        "tensorflow", "__init__", owner="CollectiveAllReduceStrategy", told_by="TF_CONFIG"
    ),
}
"""By the module that has it."""


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
        self._has_begun = False

    def forked(self):
        """This is a forked child: what it was before is recorded no more."""
        boot_ns = now()
        for name, maker in MAKERS.items():
            module = sys.modules.get(name)
            if module is not None:
                maker.wait(module, partial(self._begin, maker.engine, boot_ns))

    def _begin(self, engine, boot_ns):
        if self._has_begun:  # a rank of two engines
            return
        self._has_begun = True
        known = set(sys.modules)
        self._end_probe()
        self._start_rank(self._settings, engine, boot_ns, known)
