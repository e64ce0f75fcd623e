"""What dlprof itself took while the program stood in a line: it is in the time that was counted for that line."""

import sys

LEAST_NS = 100 * 1000
"""What is less is not looked for: finding the lines takes some microseconds itself."""
_getframe = sys._getframe


class OwnTime(object):
    """dlprof's own time by the lines whose counted time holds it: of each function on the stack, the line it is in.

    Args:
        is_profiled: Function from a code object to whether its lines are counted.
        key: Function from such a code object to what the counts call it: file, first line, name.
    """

    def __init__(self, is_profiled, key):
        self._is_profiled = is_profiled
        self._key = key
        self._lines = {}

    def add(self, ns):
        """Our own work has taken `ns` on this thread, just now; the stack is the caller's."""
        if ns < LEAST_NS:
            return
        frame, places = _getframe(1), set()
        while frame is not None:
            if self._is_profiled(frame.f_code):
                places.add((frame.f_code, frame.f_lineno or 0))  # a function that calls itself is in a line once
            frame = frame.f_back
        for code, line in places:
            lines = self._lines.setdefault(self._key(code), {})
            lines[line] = lines.get(line, 0) + ns

    def of(self, key):
        """[[line, ns]] of a function, as `key` names it."""
        return [[line, ns] for line, ns in sorted(self._lines.get(key, {}).items())]
