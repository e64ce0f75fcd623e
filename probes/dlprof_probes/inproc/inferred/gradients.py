"""Gradients that are taken of one loss several times, as of each variable by itself."""

import weakref


class SameLoss(object):
    """What taking them again and again comes to.

    Attributes:
        losses: Losses that were differentiated more than once.
        calls: Calls for these.
        more_ns: Time of these calls but for the longest one of each loss, which goes as far back as all of them.
        place: File and line of the last.
    """

    __slots__ = ("_calls", "_longest", "_sum", "_target", "calls", "losses", "more_ns", "place")

    def __init__(self):
        self.losses = self.calls = self.more_ns = 0
        self.place = ("", 0)
        self._begin(None)

    def _begin(self, target):
        self._target = target
        self._calls = self._sum = self._longest = 0

    def taken(self, target, took, place):
        """A gradient of `target`, which can be taken again, was taken at `place`, and took so long (ns)."""
        if self._target is None or self._target() is not target:  # a number of it could be that of another one by now
            self.over()
            self._begin(weakref.ref(target))
        self._calls += 1
        self._sum += took
        self._longest = max(self._longest, took)
        if self._calls > 1:
            self.place = place

    def over(self):
        """The last one will not be taken of this loss again."""
        if self._calls > 1:
            self.losses += 1
            self.calls += self._calls
            self.more_ns += self._sum - self._longest
        self._begin(None)
