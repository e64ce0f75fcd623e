"""What a program does without gradients, until it is known whether it evaluated a model there.

Between `model.eval()` and `model.train()` a program evaluates. Where it changes weights instead, it has only asked
another model, such as a teacher, or trains one whose layers are not to learn their statistics: nothing is told then.
"""

_MOST = 4096
"""Stretches of one evaluation that are kept apart."""


class Stretches(object):
    """The stretches without gradients of one thread.

    Attributes:
        found: Begin, end (ns) and site of each that may be a part of an evaluation.
        holder: What switched gradients off, or None: they are on.
        begin: When it did (ns).
    """

    __slots__ = ("_evaluates", "_is_off", "_is_over", "begin", "found", "holder")

    def __init__(self):
        self.found = []
        self.holder = None
        self.begin = 0
        self._is_off = self._evaluates = self._is_over = False

    def switched_off(self):
        """A model is not trained from here on."""
        self._is_off = self._evaluates = True
        self._is_over = False

    def switched_on(self):
        """A model is trained from here on; gives whether all that was found is known to be an evaluation now."""
        self._is_off = False
        self._is_over = self.holder is not None
        return bool(self.found) and not self._is_over

    def begun(self, holder, time):
        """Gradients are off. Hot."""
        self.holder = holder
        self.begin = time
        self._evaluates = self._is_off

    def ended(self):
        """They are on again; gives whether a model was evaluated without them. Hot."""
        self.holder = None
        return self._evaluates

    def add(self, end, site):
        """A stretch is over; gives whether the evaluation is, which it is a part of."""
        if len(self.found) < _MOST:
            self.found.append((self.begin, end, site))
        else:
            self.found[-1] = (self.found[-1][0], end, site)
        return self._is_over

    def take(self):
        """All that was found."""
        found, self.found = self.found, []
        return found

    def updated(self):
        """Weights were changed: nothing of it was an evaluation."""
        self._is_off = self._evaluates = False
        del self.found[:]
