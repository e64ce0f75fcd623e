"""A training that a loop of the script's own makes: the step that is not over, and what its loops are known by."""

from dlprof_probes.inproc.inferred.feeds import OpenedOnce


class Step(object):
    """A step that is not over.

    Attributes:
        end: That of its last update (ns).
        optimizers: Those that took part, in turn.
        calls: The same, each with its site.
        turn: What tells the turn of its loops from others; None: nothing does.
    """

    __slots__ = ("begin", "calls", "end", "items", "optimizers", "path", "turn", "waited")

    def __init__(self, begin, path):
        self.begin = begin
        self.end = begin
        self.path = path
        self.waited = None
        self.items = 0
        self.optimizers = []
        self.calls = []
        self.turn = None

    def closing(self):
        """What closes steps like it: its last optimiser, with its site where one of them took part more than once."""
        once = len(set(self.optimizers)) == len(self.optimizers)
        return self.optimizers[-1] if once else self.calls[-1]


class Fit(object):
    """A training that runs.

    Attributes:
        handle: What the log calls it.
        own: The loops that are its own: the innermost, the one around it, and that of its epochs (`own_loops`).
        step: The step that is not over, or None.
        last: When its last step was over (ns).
        lasts: Up to when its loops are known to have gone on after that (ns).
        called_from: Where its loop was called from, as its last update tells (`Site`).
        feed: The loader that its steps begin with, or None.
        closing: The optimiser that ends each turn, where no loader does, or that and its site; None: not known yet.
        turns: The turns of the outer loops, where no loader tells epochs.
        inner: What the innermost loop tells of the one around it.
        opened_once: Loaders that were opened for one turn of its innermost loop.
        before: The step before, or None.
        usual, usual_site: Optimiser and site of the step before; no site: more took part in it.
    """

    __slots__ = (
        "before", "called_from", "closing", "epoch", "feed", "handle", "inner", "last", "lasts", "leaves",
        "opened_once", "optimizers", "own", "step", "turns", "usual", "usual_site",
    )  # fmt: skip

    def __init__(self, path, begin, feed):
        self.handle = None
        self.own = own_loops(path, feed)
        self.leaves = set(path[:1])
        self.step = None
        self.last = self.lasts = begin
        self.feed = None
        self.inner = Count()
        self.closing = None
        self.before = self.usual = self.usual_site = None
        self.turns = self.called_from = None
        self.optimizers = set()
        self.epoch = -1
        self.opened_once = OpenedOnce()


def own_loops(path, feed):
    """The loops around an update that are the training's own; further ones are of folds, or of a search.

    As a rule these are two: of batches and of epochs. Where batches are fetched in groups, a loop over groups is
    between: then the loader is opened around both, or, by a generator, where the first group is fetched.
    """
    own = set(path[:2])
    if feed is not None and feed.path and feed.path[0] in path:
        own.add(feed.path[0])
    elif feed is not None and path[1:2] and path[1] in feed.path:
        own.update(path[:3])
    return frozenset(own)


class Count(object):
    """The number that the innermost loop sets, where the one around sets none: `while` around `for ... in range`.

    It counts up, and begins again with its first value. Numbers in any other order, as of rows that are drawn, or the
    same one twice, tell nothing.
    """

    __slots__ = ("_first", "_is_told", "_last")

    def __init__(self):
        self._first = self._last = None
        self._is_told = True

    def begins_anew(self, number):
        """Whether this number, of the next step, is the first of another pass."""
        return self._is_told and self._last is not None and number == self._first < self._last

    def seen(self, number):
        """A step had this number."""
        if not self._is_told:
            return
        if self._first is None:
            self._first = number
        elif number is not None and not (number > self._last or number == self._first < self._last):
            number = None
        self._is_told = number is not None
        self._last = number
