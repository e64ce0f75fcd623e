"""Replacing attributes of foreign classes and modules, with an undo list."""

import functools
import inspect
import types


class Patches(object):
    """Every replacement that the probe made, in order, so that all of them can be taken back."""

    def __init__(self):
        self._undo = []

    def replace(self, owner, name, make, again=False):
        """Replace `owner.name` by `make(original)`.

        Only what `owner` itself defines is replaced, never what it inherits. Static and class methods
        stay what they are. The replacement keeps name, documentation and signature of the original.

        Args:
            owner: A class or module.
            name: Name of the attribute.
            make: Function from the original callable to its replacement.
            again: Put a second wrapper around one that is there.

        Returns:
            bool: False when `owner` has no such attribute or it is already replaced.
        """
        found = vars(owner).get(name)
        if found is None or (getattr(found, "_dlprof", False) and not again):
            return False
        kind = type(found) if isinstance(found, (staticmethod, classmethod)) else None
        original = found.__func__ if kind else found
        replacement = dress(make(original), original)
        setattr(owner, name, kind(replacement) if kind else replacement)
        self.on_undo(lambda: setattr(owner, name, found))
        return True

    def overlay(self, owner, name, make):
        """The same for a class that has the attribute of a base, which may be one of C: it gets one of its own."""
        if name in vars(owner):
            return self.replace(owner, name, make, again=True)
        original = getattr(owner, name)
        setattr(owner, name, dress(make(original), original))
        self.on_undo(lambda: delattr(owner, name))
        return True

    def on_undo(self, function):
        """Call `function` when all is taken back."""
        self._undo.append(function)

    def undo(self):
        """Put every original back, last one first."""
        failure = None
        while self._undo:
            try:
                self._undo.pop()()
            except Exception as error:  # the others are to be put back all the same
                failure = error
        if failure is not None:
            raise failure


def each_definer(classes, name):
    """The classes among the ancestors of `classes` that define `name`, each once."""
    seen = []
    for cls in classes:
        for base in cls.__mro__:
            if base is not object and name in vars(base) and base not in seen:
                seen.append(base)
    return seen


def dress(replacement, original):
    """Make `replacement` look like `original`, also to those who ask `inspect` without following wrappers."""
    try:
        functools.update_wrapper(replacement, original)
    except TypeError:  # a method of an extension, whose names are no texts
        replacement.__wrapped__ = original
    replacement._dlprof = True
    if isinstance(
        original, types.BuiltinFunctionType
    ):  # its signature would have to be parsed, by modules to be loaded
        return replacement
    try:
        # Keras 3 asks getfullargspec(cls.__init__), which does not follow __wrapped__.
        replacement.__signature__ = inspect.signature(original)
    except (TypeError, ValueError):
        pass
    return replacement
