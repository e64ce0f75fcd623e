"""Updates by hand in JAX: gradients that are taken of arrays, and of others in their place the next time.

`params = jax.tree.map(lambda p, g: p - rate * g, params, gradients)` outside of a compiled function changes nothing: it
makes new arrays, and the old ones are gone. One array alone may be a batch of which gradients are wanted; two and more
that are all new each time, and whose predecessors nobody keeps, are taken for weights.
"""

import weakref
from sys import _getframe

from dlprof_probes.inproc.inferred.by_hand import HandUpdates, Weights

_LOOKED_AT = 8
_LEAST = 2


class Arrays(Weights):
    """Arrays of which gradients were taken.

    Args:
        arrays: A list of them.
    """

    def __init__(self, arrays):
        super(Arrays, self).__init__()
        self._held = _refer(arrays)

    def arrays(self):
        """Those of the last time that are still there."""
        return [one for one in (held() for held in self._held) if one is not None]

    def have_changed(self, arrays):
        """Whether all are others than the last time: before they are known to be trained, also that those are gone."""
        before, self._held = [one() for one in self._held], _refer(arrays)
        now = [one() for one in self._held]
        if len(before) != len(now):
            return False
        if self.is_trained:
            return all(one is not other for one, other in zip(before, now))
        return all(one is None for one in before)


def _refer(arrays):
    return [weakref.ref(one) for one in arrays[:: max(1, len(arrays) // _LOOKED_AT)]]


class JAXByHand(object):
    """The gradients that are taken outside of updates which JAX's own functions tell.

    Args:
        engine: The `Engine`.
        is_array: Function from an object to whether it is an array with a value.
    """

    def __init__(self, engine, is_array):
        self._own = engine.probe.own_loops
        self._updates = HandUpdates(engine)
        self._is_array = is_array

    def forget(self):
        """An update was told otherwise."""
        self._updates.forget()

    def taken(self, arrays, begin):
        """Gradients of arrays were taken, in a call that began at `begin` (ns)."""
        if not self._updates.is_on or len(arrays) < _LEAST or self._own.is_silent():
            return
        if not all(map(self._is_array, arrays)):
            return
        key = self._own.sites.look(_getframe(1)).where
        known = self._updates.weights(key)
        if known is None:
            self._updates.first_taken(key, Arrays(arrays), begin)
        elif known.is_worth_a_look():
            self._updates.taken(known, known.have_changed(arrays), begin)
