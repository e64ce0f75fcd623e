"""Hits and time of lines, apart by how they were counted: always, or in windows and scaled."""


def place(code):
    """File, first line and name of a function: one in the first line of its file is not the file's own code."""
    return code.co_filename, code.co_firstlineno, code.co_name


def place_of(key):
    """That of a function whose name may be qualified, as newer versions of line_profiler have it."""
    return key[0], key[1], key[2].rpartition(".")[2]


class Tally(object):
    """Splits what a line profiler counts into what was counted all the time and what was counted in windows.

    Args:
        stats: Function to the profiler's counts so far: {(file, first line, name): [(line, hits, ticks)]}.
    """

    def __init__(self, stats):
        self._stats = stats
        self._before = {}
        self._exact = {}
        self._scaled = {}
        self.touched = set()
        """`place` of functions that ran where lines were counted in windows."""

    def exact(self):
        """All that was counted since the last call was counted all the time."""
        for place, hits, ticks in self._new():
            kept = self._exact.setdefault(place, [0, 0])
            kept[0] += hits
            kept[1] += ticks

    def windows(self, factor, more=()):
        """What was counted since the last call was counted in windows: once in `factor` of the time.

        Args:
            factor: Time over time counted; None: no window was open.
            more: [((key, line), hits)] that the profiler did not count itself.
        """
        for place, hits, ticks in self._new() + [(place, hits, 0) for place, hits in more]:
            if hits and factor is not None:
                kept = self._scaled.setdefault(place, [0, 0.0, 0.0])
                kept[0] += hits
                kept[1] += hits * factor
                kept[2] += ticks * factor
                self.touched.add(place_of(place[0]))

    def functions(self):
        """[(key, [[line, hits, ticks]], [[line, hits counted, hits scaled, ticks scaled]])] of all functions."""
        keys = list(self._stats())
        exact, scaled = _by_key(self._exact), _by_key(self._scaled)
        return [(key, exact.get(key, []), scaled.get(key, [])) for key in keys]

    def _new(self):
        """[((key, line), hits, ticks)] since the last call."""
        found = []
        for key, lines in self._stats().items():
            for line, hits, ticks in lines:
                before = self._before.get((key, line), (0, 0))
                if hits != before[0] or ticks != before[1]:
                    self._before[key, line] = hits, ticks
                    found.append(((key, line), hits - before[0], ticks - before[1]))
        return found


def _by_key(places):
    found = {}
    for (key, line), figures in sorted(places.items()):
        found.setdefault(key, []).append([line] + [round(figure) for figure in figures])
    return found
