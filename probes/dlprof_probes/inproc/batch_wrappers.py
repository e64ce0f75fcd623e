"""What stands between the user's code and its loaders, and Keras and its batches: a part of `wrappers`.

Compiled into that module, under the same file name, for the same reasons (see `session.load_wrappers`).
"""

from threading import get_ident


def giving_batches(original, current, now):
    """A method that gives an iterator of batches, whose `next` is called inside a step."""

    def wrapper(*args, **kwargs):
        return Batches(original(*args, **kwargs), current, now)

    return wrapper


class Batches(object):
    """Stands for an iterator of batches; notes for how long a step waits for each."""

    def __init__(self, batches, current, now):
        self.__wrapped__ = batches
        self._batches = iter(batches)
        self._current = current
        self._now = now

    def __iter__(self):
        return self

    def __next__(self):
        start = self._now()
        try:
            return next(self._batches)
        finally:
            loop = self._current.get(get_ident())
            if loop is not None and loop.begin:
                loop.waited += self._now() - start

    def __getattr__(self, name):
        if name == "__wrapped__":  # a copy under construction
            raise AttributeError(name)
        return getattr(self.__wrapped__, name)


def restoring(original, hook):
    """Keras' look at the first batches of a generator, which gives a function that makes an iterator over all of them.

    `hook(batch)` is called with each. `map` asks the generator, so that no frame of ours is around its code.
    """

    def seen(batch):
        hook(batch)
        return batch

    def wrapper(generator):
        batches, restore = original(generator)
        return batches, lambda: map(seen, restore())

    return wrapper


def iterating(original, asked, given, over):
    """`__next__` of a loader: `asked(self)` before, `given(self, item)` after it; `over(self)` where it has no more."""

    def give_next(self):
        asked(self)
        try:
            item = original(self)
        except BaseException:
            over(self)
            raise
        given(self, item)
        return item

    return give_next


class Items(object):
    """Stands for an iterator whose `next` cannot be replaced, such as a generator; all else goes to the real one."""

    def __init__(self, items, asked, given, over):
        self.__wrapped__ = items
        self._next = iterating(next, asked, given, over)

    def __iter__(self):
        return self

    def __next__(self):
        return self._next(self.__wrapped__)

    def __getattr__(self, name):
        if name == "__wrapped__":  # a copy under construction
            raise AttributeError(name)
        return getattr(self.__wrapped__, name)


def giving_items(original, opened, asked, given, over, now):
    """`__iter__` of a loader of generators: `opened(self, iterator, begin)` is told, then all of `iterating`."""

    def open_loader(self):
        begin = now()
        iterator = iter(original(self))
        opened(self, iterator, begin)
        return Items(iterator, asked, given, over)

    return open_loader


def opening(original, opened, now):
    """`__iter__` of a loader: `opened(self, iterator, begin)` is told."""

    def open_loader(self):
        begin = now()
        iterator = original(self)
        opened(self, iterator, begin)
        return iterator

    return open_loader
