"""Updates that a program makes itself: it takes gradients of the same weights again and again and changes them between.

No call of an engine stands for such an update. Seen are the taking of gradients, and whether the weights are other than
the last time. One change may be a perturbation that is taken back; two, and no optimiser: that is a training. From then
on each gradient behind a change is told as the update, so that the change itself belongs to what follows the step.
"""

_TRIES = 64
"""Gradients that are taken without a change before nobody looks any more: of a program that only wants gradients."""
_MOST = 256
"""Different weights that are looked at: a program that makes new ones all the time, without an update, trains none."""


class Weights(object):
    """What is trained by hand: it stands for the optimiser that is not there.

    Attributes:
        dlprof_name: What a report calls the optimiser.
        earlier: Calls that turn out to be updates when the training is known to be one (`Watch.earlier`): the last
            one before the first change, and the one behind that.
        is_trained: Whether it is known.
    """

    dlprof_name = "by hand"

    def __init__(self):
        self.earlier = []
        self.is_trained = False
        self._tries = 0

    def is_worth_a_look(self):
        """Whether they may still turn out to be trained."""
        return self.is_trained or self._tries < _TRIES

    def has_changed_once(self):
        """Whether one change was seen, which may be a perturbation."""
        return len(self.earlier) > 1

    def seen_at(self, call, is_changed):
        """A gradient was taken in this call, before they are known to be trained."""
        if is_changed and self.earlier:
            self.earlier.append(call)
            return
        self._tries += 1
        if not self.has_changed_once():
            self.earlier = [call]


class HandUpdates(object):
    """The weights that an engine's gradients were taken of.

    Args:
        engine: The `Engine`.

    Attributes:
        is_on: Whether it is worth while to look at gradients.
    """

    def __init__(self, engine):
        self._engine = engine
        self._known = {}
        self._left = _MOST
        self.is_on = True

    def weights(self, key):
        """Those under a key, or None."""
        return self._known.get(key)

    def forget(self):
        """What was seen so far is over: an optimiser has changed weights, or others are to be trained."""
        self._known.clear()

    def end(self):
        """An optimiser of the engine was made: what changes weights from now on, does so for its sake."""
        self.is_on = False
        self.forget()

    def first_taken(self, key, weights, begin, call=None):
        """Gradients of these weights were taken for the first time; as `taken`."""
        self._left -= 1
        self.is_on = self._left > 0
        self._known[key] = weights
        self.taken(weights, False, begin, call)

    def taken(self, weights, is_changed, begin, call=None):
        """Gradients were taken. Hot.

        Args:
            weights: `Weights`.
            is_changed: Whether these have been changed since their gradients were last taken.
            begin: When the call that took them began (ns).
            call: Where the step was, if not here (`Watch.earlier`).
        """
        own = self._engine.probe.own_loops
        if weights.is_trained and call is None:
            if is_changed:
                own.update(self._engine, weights, begin)
            return
        call = call or own.earlier(begin)
        if call is None:
            return
        if not (weights.is_trained or (is_changed and weights.has_changed_once())):
            weights.seen_at(call, is_changed)
        elif is_changed:
            weights.is_trained = True
            weights.earlier.append(call)
            self._left = _MOST
            own.told(self._engine, weights)
