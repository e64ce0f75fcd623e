"""Where the program asks for a value of the device, by line: how often, and for how long it stood there.

Counted is what the user's own code calls (`loss.item()`, `float(x)`, `y.numpy()`): what engines and Keras call of this
themselves is not. One record per place, with sums, written now and then and at the end. The hot path is
`wrappers.reading`: an instruction of the program is looked at once.
"""

from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.patching import dress

PLACES_AT_MOST = 1000
INSTRUCTIONS_AT_MOST = 4096
_WRITE_NS = 1000 * 1000 * 1000
_WRITE_SHARE = 50
"""Places are written each second, later on when another fiftieth of the time has passed: some hundred times."""
_NOT_COUNTED = ()
_CALLS, _NS, _FIRST, _LAST = range(4)


class Syncs(object):
    """The places of one process.

    Args:
        probe: `Probe`.
    """

    def __init__(self, probe):
        self._probe = probe
        self._sums = {}  # (what, file, line) to [calls, ns, first, last]
        self._numbers = {}  # the same to its number in the stream
        self._written = {}  # number to how many calls were written
        self._instructions = 0
        self._codes = {}  # kept, so that no other one gets their address
        self._left_out = 0
        self._engines = []
        self._began = now()
        self._due = [self._began + _WRITE_NS]

    def watching(self, module):
        """Tell that calls which ask that engine for values are counted."""
        self._engines.append(module)
        self._probe.recorder.meta({"syncs_of": list(self._engines)})

    def watch(self, owner, names, slots=False, is_off=None):
        """Count calls of what `owner` has of some methods or functions.

        Args:
            owner: Class or module.
            names: Pairs of an attribute and what it is called in a report.
            slots: They are methods of C without arguments, which may warn of the line that calls them.
            is_off: Function that says whether they may, and are not counted, where they are of C with arguments.
        """
        wrappers = self._probe.wrappers
        make = wrappers.reading_slot if slots else wrappers.reading
        for name, what in names:
            if getattr(owner, name, None) is not None:
                self._probe.overlay(owner, name, self._unless(is_off, self._maker(what, make)))

    def _unless(self, is_off, make):
        unless = self._probe.wrappers.Unless
        return make if is_off is None else lambda original: unless(original, dress(make(original), original), is_off)

    def _maker(self, what, reading):
        places = {}

        def learn(frame):
            try:
                return self._learn(frame, what, places)
            except Exception as error:
                self._probe.failed(self._learn, error)
                return _NOT_COUNTED

        return lambda original: reading(original, places, learn, now, self._due, self.write)

    def _learn(self, frame, what, places):
        """The sums of the place where `frame` stands; empty where it is not counted."""
        code, is_over = frame.f_code, self._probe.ended
        is_users = not is_over and self._probe.is_user_file(code.co_filename)
        if self._instructions >= INSTRUCTIONS_AT_MOST or is_over:
            self._left_out += is_users
            return _NOT_COUNTED
        sums = self._sums_of((what, code.co_filename, frame.f_lineno or 0)) if is_users else _NOT_COUNTED
        self._left_out += is_users and not sums
        self._instructions += 1
        self._codes[id(code)] = code
        places[id(code), frame.f_lasti] = sums
        return sums

    def _sums_of(self, key):
        sums = self._sums.get(key)
        if sums is None and len(self._sums) < PLACES_AT_MOST:
            self._numbers[key] = len(self._sums) + 1
            sums = self._sums[key] = [0, 0, now(), 0]
        return sums or _NOT_COUNTED

    def write(self, time_ns):
        """Write what was counted since the last time."""
        self._due[0] = time_ns + max(_WRITE_NS, (time_ns - self._began) // _WRITE_SHARE)
        try:
            if self._probe.ended:
                return
            for key, sums in list(self._sums.items()):
                number, told = self._numbers[key], list(sums)
                if self._written.get(number, 0) != told[_CALLS]:
                    self._written[number] = told[_CALLS]
                    self._probe.recorder.sync(number, key, told)
        except Exception as error:
            self._probe.failed(self.write, error)

    def finish(self):
        """Write the rest."""
        self.write(now())
        if self._left_out:
            text = "At least %d calls that ask for a value of the device are not counted: too many different places."
            self._probe.recorder.note("syncs-left-out", text % self._left_out, "info")
