"""Passes over loaders: what each was told (workers, queue), how long it took to begin and to end, and what it gave.

A loader is what gives the training its batches, with workers or without: PyTorch's `DataLoader`, Keras' `PyDataset`.
A pass is one iteration over it, as a rule an epoch. Nothing is measured in the workers: they are seen from outside.
"""

import weakref
from sys import _getframe
from threading import get_ident

from dlprof_probes.inproc.clock import now

MOST_PASSES = 2000
"""Passes that are recorded one by one; more are only counted."""


class Pass(object):
    """A pass that goes on.

    Attributes:
        loader: Number of the loader.
        facts: What the loader was told.
        begin, opened: When `iter` was called, and when it was done (ns).
        first_wait, waited, last_wait: Time inside of the first `next`, of all that gave something, and of the one that
            told the end (ns).
        items: What it gave.
        asked: When the item that is waited for was asked for (ns).
        keys: Numbers of the objects that stand for it; the first ends it.
    """

    __slots__ = (
        "asked", "begin", "end", "facts", "first_wait", "gone", "items", "keys", "last_wait", "loader", "opened",
        "place", "thread", "waited",
    )  # fmt: skip

    def __init__(self, loader, facts, begin, opened, place):
        self.loader = loader
        self.facts = facts
        self.begin = begin
        self.opened = opened
        self.place = place
        self.thread = get_ident()
        self.gone = None
        self.keys = []
        self.asked = self.end = opened
        self.items = self.waited = 0
        self.first_wait = self.last_wait = None


class Loaders(object):
    """All loaders of the process.

    Args:
        recorder: `Recorder`.
        guard: `Probe.guard`.
    """

    def __init__(self, recorder, guard):
        self._recorder = recorder
        self._numbers = {}
        self._places = {}
        self._next = 0
        self._open = {}
        self._told = self._untold = 0
        self.made = guard(self._made, goes_on=True)
        self.opened = guard(self._opened, goes_on=True)
        self.asked = guard(self._asked, goes_on=True)
        self.given = guard(self._given, goes_on=True)
        self.over = guard(self._over, goes_on=True)
        self.given_by = guard(self._given_by, goes_on=True)
        self.ended = guard(self._ended, goes_on=True)
        self.finish = guard(self._finish)

    def number(self, loader):
        """A number that no other loader has, nor will have."""
        known = self._numbers.get(id(loader))
        if known is not None and known[0]() is loader:
            return known[1]
        self._next += 1
        key, numbers, places = id(loader), self._numbers, self._places

        def forget(_gone):
            numbers.pop(key, None)
            places.pop(key, None)

        numbers[key] = (weakref.ref(loader, forget), self._next)
        return self._next

    def _made(self, loader, frame):
        """A loader is made, somewhere below `frame`."""
        self.number(loader)
        self._places[id(loader)] = self.place(loader, frame)

    def place(self, loader, frame):
        """The user's line (file, line) that makes a loader: outside of its own constructors, also the user's."""
        while frame is not None and _is_constructor(frame, loader):
            frame = frame.f_back
        return self._recorder.user_line(frame)

    def _opened(self, loader, iterator, begin, facts):
        """A pass over a loader has begun.

        Args:
            loader: The loader.
            iterator: What gives the items; it may be that of the pass before.
            begin: When that was asked for (ns).
            facts: What the loader was told: fields of `wire.Record.LOADER`.
        """
        key, opened = id(iterator), now()
        before = self._open.get(key)
        if before is not None:
            self._close(before)
        place = self._places.get(id(loader)) or self._recorder.user_line(_getframe(2))
        one = Pass(self.number(loader), facts, begin, opened, place)
        self._stands_for(iterator, one)

    def _given_by(self, owner, iterator):
        """The items of the pass that `owner` stands for come out of `iterator`."""
        one = self._open.get(id(owner))
        if one is not None:
            self._stands_for(iterator, one)

    def _stands_for(self, thing, one):
        key, left = id(thing), self._left
        one.keys.append(key)
        one.gone = one.gone or weakref.ref(thing, lambda _gone: left(key))
        self._open[key] = one

    def is_open(self, thing):
        """Whether it stands for a pass that goes on."""
        return id(thing) in self._open

    def place_of(self, loader):
        """The user's line (file, line) that made a loader; None: not known."""
        return self._places.get(id(loader))

    def _asked(self, iterator):
        one = self._open.get(id(iterator))
        if one is not None:
            one.asked = now()

    def _given(self, iterator, _item=None):
        one = self._open.get(id(iterator))
        if one is not None:
            end = one.end = now()
            waited = end - one.asked
            if one.first_wait is None:
                one.first_wait = waited
            one.items += 1
            one.waited += waited

    def _over(self, iterator):
        """There are no more items."""
        one = self._open.get(id(iterator))
        if one is not None and one.keys[0] == id(iterator):
            one.end = now()
            one.last_wait = one.end - one.asked
            self._close(one)

    def _ended(self, owner, begin):
        """A pass is over, which took a call that began at `begin` (ns)."""
        one = self._open.get(id(owner))
        if one is not None:
            one.end = now()
            one.last_wait = one.end - begin
            self._close(one)

    def _left(self, key):
        """What stood for a pass is no more: the pass was left."""
        one = self._open.get(key)
        if one is not None and one.keys[0] == key:
            self._close(one)

    def _close(self, one):
        for key in one.keys:
            self._open.pop(key, None)
        self._tell(one)

    def _tell(self, one):
        if not one.items and one.last_wait is None:
            return  # nobody asked it for anything
        if self._told >= MOST_PASSES:
            self._untold += 1
            return
        self._told += 1
        file, line = one.place or ("", 0)
        facts = {
            "loader": one.loader, "thread": one.thread, "file": file, "line": line, "begin_ns": one.begin,
            "opened_ns": one.opened, "end_ns": one.end, "first_wait_ns": one.first_wait, "waited_ns": one.waited,
            "last_wait_ns": one.last_wait, "items": one.items,
        }  # fmt: skip
        facts.update(one.facts)
        self._recorder.loader(facts)

    def _finish(self):
        """The program is over."""
        while self._open:
            self._close(next(iter(self._open.values())))
        if self._untold:
            text = "%d passes over loaders are not recorded one by one: there were more than %d."
            self._recorder.note("loaders-untold", text % (self._untold, MOST_PASSES), "info")

    def forget(self):
        """This is a forked child."""
        self._open.clear()


def _is_constructor(frame, loader):
    """Whether a frame is of `__init__` of that very object: where it is made is outside of these."""
    code = frame.f_code
    return code.co_name == "__init__" and code.co_argcount > 0 and frame.f_locals.get(code.co_varnames[0]) is loader
