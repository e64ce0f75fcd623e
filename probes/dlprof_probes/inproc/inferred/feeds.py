"""Loaders that a training loop takes its batches from."""


class Feed(object):
    """A loader that is iterated, from `iter` to its end.

    Attributes:
        opened: When (ns).
        path: Loops around the call of `iter`.
        facts: What is known of the loader.
        items, waited: Since the last step: items, and time inside of `next` (ns).
        first, first_waited: When the first of these was handed out, and how long that took (ns).
        count: Items in all.
        evaluation: The evaluation that it feeds, or None.
        asked: When the item that is waited for was asked for (ns).
        updated: Whether an update has followed one of its items.
        tells: Whether it says itself where an epoch begins, wherever it is asked.
        over: Whether it has ended.
        looked: Whether what it gave was only asked about: it feeds an evaluation, if no update follows to its end.
    """

    __slots__ = (
        "asked", "count", "evaluation", "facts", "first", "first_waited", "items", "looked", "opened", "over", "path",
        "place", "tells", "updated", "waited",
    )  # fmt: skip

    def __init__(self, opened, path, place, facts, tells=False):
        self.tells = tells
        self.opened = opened
        self.path = path
        self.place = place
        self.facts = facts
        self.count = 0
        self.evaluation = None
        self.asked = opened
        self.updated = self.over = self.looked = False
        self.taken()

    def taken(self):
        """What it gave so far belongs to a step."""
        self.items = 0
        self.waited = 0
        self.first = self.first_waited = 0

    def is_before(self, other):
        """Whether nobody has asked it for anything since `other` was opened."""
        return self.over or self.asked < other.opened


class Asked(object):
    """An evaluation that no loader feeds.

    Attributes:
        handle: What the log calls it.
        place: File and line of the calls in it.
        begin, end: Of its last step, which is not told yet (ns).
    """

    __slots__ = ("begin", "end", "handle", "place")

    def __init__(self, handle, place):
        self.handle = handle
        self.place = place
        self.begin = self.end = 0


class OpenedOnce(object):
    """Loaders that gave one item each, `next(iter(...))`: how many, where the last was opened, and their waits (ns)."""

    __slots__ = ("count", "place", "waited")

    def __init__(self):
        self.count = self.waited = 0
        self.place = ("", 0)

    def add(self, count, place, waited=0):
        """More of them."""
        self.count += count
        self.place = place
        self.waited += waited
