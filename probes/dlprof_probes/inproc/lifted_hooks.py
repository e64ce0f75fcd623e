"""Hooks that are taken off for a while, because even to pass them by costs too much.

What stands aside is still a call of Python, whose code may have left the processor's caches when it comes.
"""

from threading import RLock

MOST = 400
"""How often they are taken off: that makes two new versions of a class, of which some Pythons have a thousand."""


class LiftedHooks(object):
    """Hooks that do nothing but in loops, and so can be off while all loops that run are known without them.

    Args:
        current: Thread identifier to the loop that runs on it, or None.

    Attributes:
        are_off: Whether they are off; read by hot paths.
    """

    def __init__(self, current):
        self.are_off = False
        self._current = current
        self._hooks = []
        self._left = MOST
        self._lock = RLock()

    def add(self, owner, name, original):
        """What `owner` has under that name now may be taken off for `original`, as the owner itself held it."""
        self._hooks.append((owner, name, original, vars(owner).get(name)))

    def take_off(self, known):
        """Take them off, if no loop runs but on these threads."""
        if not self._left or any(one is not None and ident not in known for ident, one in list(self._current.items())):
            return
        self._left -= 1
        self._turn(True)

    def put_back(self):
        """Have all of them again."""
        if self.are_off:
            self._turn(False)

    def forget(self):
        """This is a forked child: nobody else holds the lock."""
        self._lock = RLock()

    def _turn(self, off):
        """What the program itself has put in the place of either stays."""
        with self._lock:
            self.are_off = off
            for owner, name, original, hooked in self._hooks:
                if self.are_off != off:  # the handler of a signal came in between, and began a loop
                    return
                gone, comes = (hooked, original) if off else (original, hooked)
                if vars(owner).get(name) is gone:
                    setattr(owner, name, comes)
