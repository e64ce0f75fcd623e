"""Why a graph is compiled again: which argument's shape, dtype, value or identity differs from all earlier ones."""

import re
import types
import weakref

_KEPT = 32
"""Signatures kept of each function; the causes of later compilations are told against the last ones."""
_TEXT_AT_MOST = 200
_SHAPE = re.compile(r"[\[(][\d, None*?]*[\])]")
_DTYPE = re.compile(r"\b(?:tf\.)?(?:bfloat|float|uint|int|complex|bool|string)\d*\b")
_IDENTITY = re.compile(r"weakref|object at 0x|<function|<class|id=\d+")


class Causes(object):
    """Signatures of the functions that were compiled; a function that is gone is forgotten."""

    def __init__(self):
        self._of_functions = weakref.WeakKeyDictionary()
        self._of_others = {}

    def note(self, key, function, signature):
        """A compilation of the function known as `key`.

        Args:
            key: The function itself, or something hashable that is the same for all its compilations.
            function: Its name.
            signature: Dict from name of the argument to a text with its dtype and shape, or its value.

        Returns:
            dict: Facts for the span: `function`, `again` (it was compiled before) and `cause`, a list of dicts with
            `argument`, `what`, `before` and `now`; empty where nothing differs.
        """
        signature = dict((str(name), str(text)[:_TEXT_AT_MOST]) for name, text in signature.items())
        earlier = self._earlier(key)
        facts = {"function": function, "again": bool(earlier), "cause": []}
        if earlier:
            nearest = min(reversed(earlier), key=lambda known: len(_differing(known, signature)))
            if nearest == signature:  # compiled before, and given up since
                nearest = earlier[-1]
            facts["cause"] = [_change(name, nearest, signature) for name in _differing(nearest, signature)[:8]]
        earlier.append(signature)
        del earlier[:-_KEPT]
        return facts

    def _earlier(self, key):
        if isinstance(key, types.MethodType):
            key = (key.__func__.__code__, id(key.__self__))
        if isinstance(key, types.FunctionType):
            return self._of_functions.setdefault(key, [])
        try:
            return self._of_others.setdefault(key, [])
        except TypeError:  # not hashable
            return self._of_others.setdefault(id(key), [])


def _differing(before, now):
    return [name for name in sorted(set(before) | set(now)) if before.get(name) != now.get(name)]


def _change(name, before, now):
    old, new = before.get(name), now.get(name)
    return {"argument": name, "what": _what(old, new), "before": old, "now": new}


def _what(old, new):
    if old is None or new is None:
        return "number of arguments"
    if _SHAPE.sub("", old) == _SHAPE.sub("", new):
        return "shape"
    if _DTYPE.sub("", old) == _DTYPE.sub("", new):
        return "dtype"
    if _IDENTITY.search(old) and _IDENTITY.search(new):
        return "identity"
    return "value"
