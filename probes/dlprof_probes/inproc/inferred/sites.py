"""Where in the program a call comes from: the loops of its code that stand around it, innermost first.

Loops are read from the byte code: a jump backwards ends one. So they are known without the source, and a step that is
called by a helper function belongs to the loop that calls the helper.
"""

import os
from bisect import bisect_right
from sys import getrefcount, version_info
from types import ModuleType

_DEEPEST = 128
"""Frames that are looked at."""
_DEPTHS = range(_DEEPEST)
_CODES_AT_MOST = 4096
_BRANCHES_AT_MOST = 20000
_SITE = "site"
"""Where a branch of the tree has what it leads to; its other keys are places in code."""
_STORES = ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF")
_LOOKED_INTO = 500
"""Objects of a frame whose attributes are looked at, at most."""
_OWN_NAMESPACE = 2
"""Flag of code objects: its names are its own (a function), not those of a module."""
_LEFT_AND_TAKEN_UP = 0x20 | 0x80 | 0x200
"""Flags of code objects: a generator, a coroutine, or both."""
_COPIES = version_info < (3, 13)
_HOLDERS = 3
"""References to the names of a frame that nobody else looks at: the frame's, ours, and that of the call that counts."""
_WRAPPERS = "<frozen importlib._bootstrap>"


class LoopCode(object):
    """A loop of a code object.

    Attributes:
        number: Its number in this process.
        first, last: Offsets of its first instruction and of the jump back (bytes).
        line: The line at which it begins.
        target: The name that each turn of a `for` sets; None: there is none that tells turns apart.
    """

    __slots__ = ("first", "last", "line", "number", "target")

    def __init__(self, number, first, last, line, target):
        self.number = number
        self.first = first
        self.last = last
        self.line = line
        self.target = target


class Site(object):
    """Where in the program a call is made: the same for each call through the same lines.

    Attributes:
        path: Numbers of the loops around it, innermost first.
        where: File and line of the innermost loop that is the user's own, else of the user's call; ("", 0): unknown.
        line: File and line of the user's call; ("", 0): unknown.
        called_from: What tells where the function with the innermost loop was called from; None: it is not known, or a
            generator or a coroutine, which goes on wherever it is asked to.
    """

    __slots__ = ("_levels", "_user", "called_from", "line", "path", "where")

    def __init__(self, levels, user, where, line, called_from=None):
        self.called_from = called_from
        self.path = tuple([loop.number for _, loop in levels])
        self.where = where
        self.line = line
        self._levels = levels
        self._user = user

    def turns(self, frame):
        """What tells the turns of the outer loops apart; None for one that nothing tells of. `frame` makes the call."""
        found, depth = [], 0
        for level, loop in self._levels[1:]:
            while depth < level:
                frame = frame.f_back
                depth += 1
            found.append(_turn(frame, loop))
        return tuple(found)

    def turn(self, frame):
        """What tells the turn of all loops around from others; None: nothing does. `frame` makes the call."""
        level, loop = self._levels[0] if self._levels else (0, None)
        around = self.turns(frame)
        for _ in range(level):
            frame = frame.f_back
        own = None if loop is None else _turn(frame, loop)
        return None if own is None else (own,) + around

    def count(self, frame):
        """The number that the innermost loop sets in each of its turns; None: it sets none. `frame` makes the call."""
        if len(self._levels) < 2:
            return None
        level, loop = self._levels[0]
        for _ in range(level):
            frame = frame.f_back
        value = _set_by(frame, loop)
        return value if type(value) is int else None

    def frames(self, frame):
        """The frames of the user's call and of the loops around it; `frame` makes the call."""
        wanted = {level for level, _ in self._levels} | {self._user}
        found, depth = [], 0
        while frame is not None and depth < _DEEPEST:
            if depth in wanted:
                found.append(frame)
            frame = frame.f_back
            depth += 1
        return found


class Sites(object):
    """Looks up sites.

    The frames of a call, by their code and place in it, lead down a tree to what was learnt of them the first time.

    Args:
        is_user_file: Function from a file name to whether it is the user's own code.
    """

    def __init__(self, is_user_file):
        self._is_user_file = is_user_file
        self._skipped = (os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep,)
        self._counted = set()
        self._known = {}
        self._codes = {}
        self._count = 0
        self._tree = {}
        self._branches = 0

    def skip(self, start, but=()):
        """Pass over the loops of code whose file's path begins so, an engine's own; but not of these files."""
        self._skipped += (start,)
        self._counted.update(but)
        self._known.clear()
        self._codes.clear()
        self._tree.clear()

    def look(self, frame):
        """The site from which `frame` runs. Hot: called in every step, and each frame around it counts."""
        node, at = self._tree, frame
        try:
            for _ in _DEPTHS:
                branch, code = node[at.f_lasti], at.f_code
                while branch[0] is not code:
                    branch = branch[2]
                node, at = branch[1], at.f_back
                if at is None:
                    break
            return node[_SITE]
        except (KeyError, TypeError):  # a branch that is not there yet, or the end of those beside each other
            return self._explore(frame)

    def _explore(self, frame):
        """Learn a site, and the way to it."""
        if self._branches > _BRANCHES_AT_MOST:
            self._tree.clear()
            self._branches = 0
        site, node = self._learn_site(frame), self._tree
        for _ in _DEPTHS:
            first, code = node.get(frame.f_lasti), frame.f_code
            branch = first
            while branch is not None and branch[0] is not code:
                branch = branch[2]
            if branch is None:
                branch = node[frame.f_lasti] = (code, {}, first)
                self._branches += 1
            node, frame = branch[1], frame.f_back
            if frame is None:
                break
        node[_SITE] = site
        return site

    def _learn_site(self, frame):
        levels, where, line, user = [], None, ("", 0), None
        outermost, called_from, is_left = 0, (), False
        for depth in _DEPTHS:
            code = frame.f_code
            loops, is_users = self._known.get((id(code), frame.f_lasti)) or self._learn(code, frame.f_lasti)
            if levels:  # its code is kept (`_learn`), so that its number is its own
                called_from += ((id(code), frame.f_lasti),)
            levels.extend([(depth, loop) for loop in loops])
            if loops and levels[0][0] == depth:
                is_left = bool(code.co_flags & _LEFT_AND_TAKEN_UP)
            if is_users:
                if user is None:
                    user, line = depth, (code.co_filename, frame.f_lineno or 0)
                if loops and where is None:
                    where = code.co_filename, loops[0].line
                outermost = len(levels)
            frame = frame.f_back
            if frame is None:
                break
        # What calls the user's outermost function is no loop of theirs: a notebook's, a runner of tests.
        known = called_from if outermost and not is_left else None
        return Site(levels[:outermost], user, where or line, line, known)

    def _learn(self, code, offset):
        known = self._codes.get(id(code))
        if known is None:
            if len(self._codes) >= _CODES_AT_MOST:
                return (), self._is_user_file(code.co_filename)
            # The code object is kept, so that no other one gets its address.
            known = self._codes[id(code)] = (code, self._loops(code), self._is_user_file(code.co_filename))
        around = tuple(loop for loop in known[1] if loop.first <= offset <= loop.last)
        entry = self._known[id(code), offset] = (_told_apart(around), known[2])
        return entry

    def _loops(self, code):
        if code.co_filename == _WRAPPERS or self._is_skipped(code.co_filename):
            return ()
        found = loops_of(code)
        for loop in found:
            self._count += 1
            loop.number = self._count
        return found

    def _is_skipped(self, path):
        return path.startswith(self._skipped) and path not in self._counted


def loops_of(code):
    """The loops of a code object, inner ones before those around them; their numbers are 0."""
    import dis  # it is loaded by every engine, but need not be by a program without one

    instructions = list(dis.get_instructions(code))
    starts = list(dis.findlinestarts(code))
    ends = {}
    for one in instructions:
        jumps = one.opcode in dis.hasjrel or one.opcode in dis.hasjabs
        if jumps and isinstance(one.argval, int) and one.argval <= one.offset and "NO_INTERRUPT" not in one.opname:
            ends[one.argval] = max(one.offset, ends.get(one.argval, 0))
    loops = []
    for first, last in ends.items():
        line = min(_line(starts, first), _line(starts, last))
        loops.append(LoopCode(0, first, last, line, _target(instructions, first)))
    return tuple(sorted(loops, key=lambda loop: loop.last - loop.first))


def _line(starts, offset):
    place = bisect_right([start for start, _ in starts], offset) - 1
    return (starts[place][1] or 0) if place >= 0 else 0


def _target(instructions, first):
    """The first name that a `for` at that offset sets."""
    place = next((n for n, one in enumerate(instructions) if one.offset == first), len(instructions))
    while place < len(instructions) and instructions[place].opname == "EXTENDED_ARG":
        place += 1  # a long loop: the jump back goes to what widens the argument of its `for`
    if place == len(instructions) or instructions[place].opname != "FOR_ITER":
        return None
    for one in instructions[place + 1 : place + 6]:
        if one.opname.startswith(_STORES):
            return one.argval[0] if isinstance(one.argval, tuple) else one.argval
        if not one.opname.startswith(("UNPACK", "NOP", "CACHE", "EXTENDED_ARG")):
            return None
    return None


def _told_apart(around):
    """Loops around a place; the name of one that an inner loop sets, too, tells nothing."""
    seen, found = set(), []
    for loop in around:
        target = None if loop.target in seen else loop.target
        seen.add(loop.target)
        found.append(LoopCode(loop.number, loop.first, loop.last, loop.line, target))
    return tuple(found)


def _turn(frame, loop):
    return None if loop.target is None else _plain(_set_by(frame, loop))


def _set_by(frame, loop):
    """The value of the name that a loop sets."""
    if loop.target is None:
        return None
    if not frame.f_code.co_flags & _OWN_NAMESPACE:
        return frame.f_globals.get(loop.target)
    return _local(frame, loop.target)


def _local(frame, name):
    names = frame.f_locals
    value = names.get(name)
    if _COPIES and getrefcount(names) <= _HOLDERS:
        names.clear()
    return value


def names_in(frame):
    """The names of a frame and their values, as a dict of its own.

    Before Python 3.13 a frame that is asked keeps a copy of them all, which must not keep the values alive.
    """
    if not frame.f_code.co_flags & _OWN_NAMESPACE:
        return dict(frame.f_globals)
    names = frame.f_locals
    found = dict(names)
    if _COPIES and getrefcount(names) <= _HOLDERS:
        names.clear()
    return found


def attributes_of(value):
    """What an object holds, without any code of its class."""
    try:
        held = object.__getattribute__(value, "__dict__")
    except (AttributeError, TypeError):
        return {}
    return held if type(held) is dict else {}


def objects_in(names):
    """Names and values, and what the values hold themselves, also as buffers of a module of PyTorch.

    Yields:
        tuple: The name, as code would write it, and the value.
    """
    for place, (name, value) in enumerate(names.items()):
        yield name, value
        if place < _LOOKED_INTO and not isinstance(value, (type, ModuleType)):
            own = attributes_of(value)
            for inner, attribute in list(own.items()) + list((own.get("_buffers") or {}).items()):
                yield "%s.%s" % (name, inner), attribute


def _plain(value):
    return value if isinstance(value, (int, float, str)) else id(value)
