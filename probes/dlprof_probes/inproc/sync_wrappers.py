"""The functions that stand between the user's code and reads of values of a device: a part of `wrappers`.

Compiled into that module, under the same file name, for the same reasons (see `session.load_wrappers`).
"""

from itertools import repeat
from sys import _getframe
from types import MethodType


def reading(original, places, learn, now, due, write):
    """A function that asks for a value of the device: calls and time are added to the place that called.

    `places` has it by code and instruction: a list of calls, time, begin and end, or empty: it is not counted.
    `learn(frame)` gives that of a new one. `write(time)` is called when a call ends after `due[0]`.
    """

    def wrapper(*args, **kwargs):
        frame = _getframe(1)
        place = places.get((id(frame.f_code), frame.f_lasti))
        if place is None:
            place = learn(frame)
        if not place:
            return original(*args, **kwargs)
        begin = now()
        try:
            return original(*args, **kwargs)
        finally:
            end = now()
            spent = end - begin
            place[0] += 1
            place[1] += spent
            place[3] = end
            if end > due[0]:
                write(end)

    return wrapper


def reading_slot(original, places, learn, now, due, write):
    """The same for a method of C without arguments, which may warn: of the line that calls it, by the innermost frame.

    So no frame of ours may be below it: it is called, and then what counts, by functions of C. A call that raises is
    not counted. A class of its own, because this is hot.
    """
    bound = original.__get__

    class Slot(object):
        def __get__(self, tensor, owner=None):
            if tensor is None:
                return original
            frame = _getframe(1)
            place = places.get((id(frame.f_code), frame.f_lasti))
            if place is None:
                place = learn(frame)
            if not place:
                return bound(tensor, owner)

            def over(_value):
                end = now()
                place[0] += 1
                place[1] += end - begin
                place[3] = end
                if end > due[0]:
                    write(end)
                return True

            call = filter(over, map(original, repeat(tensor))).__next__
            begin = now()
            return call

    return Slot()


class Unless(object):
    """A method of C that is called as it is while `is_off()`, else by way of `wrapped`: it may warn then, as above."""

    def __init__(self, original, wrapped, is_off):
        self._original = original
        self._wrapped = wrapped
        self._is_off = is_off

    def __get__(self, tensor, owner=None):
        if tensor is None or self._is_off():
            return self._original.__get__(tensor, owner)
        return MethodType(self._wrapped, tensor)
