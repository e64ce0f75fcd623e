"""How much Python holds while it trains: blocks of its allocator, and, more rarely, every object by its type.

Looked at right behind a writing of the stream, which is twice a second at most, on the main thread. Blocks are a
counter of Python's; objects are counted one by one, 0.1 s in a large process. So that is done for a small share of the
time only, and for more of it where something grows: then it is worth knowing what.
"""

import gc
import sys
import time
from collections import Counter
from threading import get_ident, main_thread

from dlprof_probes import wire
from dlprof_probes.inproc import process_memory
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.gc_probe import held_back

_get_objects = gc.get_objects
_used = getattr(time, "thread_time_ns", now)
"""CPU time of this thread (ns), where Python tells it: who waits for a core meanwhile pays no more for the count."""
_allocated_blocks = getattr(sys, "getallocatedblocks", None)
_module_of, _name_of = type.__dict__["__module__"].__get__, type.__dict__["__qualname__"].__get__
_bases_of = type.__dict__["__mro__"].__get__
"""Of the class `type` itself: a metaclass of the program's may have its own, which would run."""

APART_NS = 450 * 1000 * 1000
_BLOCKS_SHARE = 0.0005
"""Of the time, for the counter of blocks: it goes over arenas."""
_SHARE, _SHARE_GROWING = 0.001, 0.02
"""Of the time, for counting objects."""
_WARM_NS = 5 * 1000 * 1000 * 1000
"""After the first look: caches fill before."""
_BLOCK_NS = 150
"""What counting objects is taken to last for each block, before it was done once."""
_MOST_BLOCKS = 2 << 20
"""Of more, objects are not counted: it would keep the program waiting for half a second."""
_GROWN_BLOCKS, _GROWN_BYTES = 0.02, 32 << 20
"""What more there is than when it was warm, that it grows."""
_THINNING = 4000
"""Looks of a long run are this many to its length until then."""
TYPES = 16
"""Types that are told: those of which there are most more."""


class HeldObjects(object):
    """Counts, on the main thread, while it trains.

    Args:
        recorder: `Recorder`; its `has_loops` says whether a loop was seen.
        windows: `Windows` or `NoWindows`: while kernels are traced nothing is counted one by one.
        array_types: Function without arguments that gives the classes of arrays of all engines that are loaded.
    """

    def __init__(self, recorder, windows, array_types):
        self._recorder = recorder
        self._windows = windows
        self._array_types = array_types
        self._main = main_thread().ident
        self._began = self._next = self._counted = 0
        self._count_ns = None
        self._warm = None
        """Blocks and the process's own memory (bytes), when it was warm."""
        self._first = None
        """Type to count, when objects were first counted."""

    def look(self):
        """Count what is worth it."""
        start = now()
        if start < self._next or not self._recorder.has_loops or get_ident() != self._main:
            return
        self._next = start + APART_NS  # a signal's handler may come in here again
        begun = _used()
        blocks = _allocated_blocks() if _allocated_blocks is not None else 0  # 0: Python's own allocator is off
        self._began = self._began or start
        told = {"time_ns": start}
        if blocks:
            told["blocks"] = blocks
        spent = _used() - begun
        self._recorder.write_ns += spent
        if self._is_worth_it(start, blocks):
            self._count(told)
        if len(told) > 1:
            self._recorder.objects(told)
        apart = max(APART_NS, int(spent / _BLOCKS_SHARE), (start - self._began) // _THINNING)
        self._next = now() + apart

    def _is_worth_it(self, time_ns, blocks):
        """Whether enough time has passed since objects were last counted."""
        is_known = 0 < blocks <= _MOST_BLOCKS
        if time_ns - self._began < _WARM_NS or not is_known or self._windows.active is not None:
            return False
        own = (process_memory.at(time_ns) or {}).get("anonymous_bytes", 0)
        if self._warm is None:
            self._warm = blocks, own
        grows = blocks > (1 + _GROWN_BLOCKS) * self._warm[0] or own > self._warm[1] + _GROWN_BYTES
        takes = self._count_ns if self._count_ns is not None else _BLOCK_NS * blocks
        return time_ns - (self._counted or self._began) >= takes / (_SHARE_GROWING if grows else _SHARE)

    def _count(self, told):
        """Count objects by type: all that the garbage collector knows."""
        start, begun = now(), _used()
        with held_back():
            held = _get_objects()
            # By number: a hash of the class itself may be the program's, too. No more lists: each is some MB.
            by_number = Counter(map(id, map(type, held)))
            known = dict(zip(map(id, map(type, held)), map(type, held)))
            del held
        arrays = frozenset(map(id, self._array_types()))
        by_name = {}
        told["objects"] = told["tensors"] = 0
        for number, count in by_number.items():
            kind = known[number]
            told["objects"] += count
            if any(id(base) in arrays for base in _bases_of(kind)):
                told["tensors"] += count
            name = _name(kind)
            by_name[name] = by_name.get(name, 0) + count
        if self._first is None:
            self._first = by_name
        told["types"] = self._grown(by_name)
        self._counted = now()
        self._count_ns = _used() - begun
        self._recorder.complete(wire.SpanKind.DLPROF, "count objects", start, self._counted)

    def _grown(self, by_name):
        """[name, count, how many more than at first] of types of which there are most more."""
        grown = ((count - self._first.get(name, 0), name) for name, count in by_name.items())
        most = sorted((one for one in grown if one[0] > 0), key=lambda one: (-one[0], one[1]))[:TYPES]
        return [[name, by_name[name], more] for more, name in most]


def _name(kind):
    name = _name_of(kind)
    try:
        module = _module_of(kind)
    except AttributeError:  # a class that was made in C may have none
        return name
    if type(module) is not str or module in ("builtins", "__main__"):  # one of the program's own would be called
        return name
    return "%s.%s" % (module, name)
