"""Files of the program's that bear the names of modules: they are found by the program, and never loaded by us.

A script may lie beside a `json.py` or a `typing.py` of its author's, or have some on PYTHONPATH: these folders come
before Python's own.
"""

import importlib.machinery
import os
import sys
from os.path import abspath

_LIBRARY = os.path.dirname(abspath(os.__file__))
_MODULE = type(sys)
_BUILT_IN = sys.builtin_module_names


def before_library():
    """The folders that Python looks into before its own: the program's, and those of PYTHONPATH."""
    return _split(list(sys.path))[0]


def _split(path):
    own = [number for number, each in enumerate(path) if abspath(each) == _LIBRARY] or [0]
    return path[: own[0]], path[own[0] :]


class UsersLast(object):
    """While we load something these folders come last; afterwards all is as before."""

    def __init__(self):
        self._path = None

    def __enter__(self):
        self._path = list(sys.path)
        users, others = _split(self._path)
        sys.path[:] = others + users

    def __exit__(self, *_raised):
        sys.path[:] = self._path


def forget(folders, known):
    """Forget modules whose names belong to files of the program's, and those that use them: as if none were loaded.

    The probe keeps what it has.

    Args:
        folders: Where the program looks first.
        known: Names of modules that are not ours to forget.
    """
    kept = set(known).union(_BUILT_IN, ("__main__", "dlprof_probes"))
    ours = [name for name in sys.modules if name not in kept and name.partition(".")[0] not in kept]
    gone = {name for name in {each.partition(".")[0] for each in ours} if _is_file_in(folders, name)}
    more = gone
    while more:
        more = {name.partition(".")[0] for name in ours if _uses(sys.modules.get(name), gone)} - gone
        gone = gone | more
    for name in ours:
        if name.partition(".")[0] in gone:
            sys.modules.pop(name, None)


def _is_file_in(folders, name):
    """Whether `import name` would load a file of these; a folder without `__init__.py` only counts last."""
    try:
        spec = importlib.machinery.PathFinder.find_spec(name, folders)
    except Exception:
        return False
    return spec is not None and spec.loader is not None


def _uses(module, names):
    """Whether a module has one of these, or something of theirs, among its own names."""
    try:
        return any(_home(value).partition(".")[0] in names for value in list(vars(module).values()))
    except Exception:  # something that stands for a module
        return False


def _home(value):
    home = getattr(value, "__name__" if isinstance(value, _MODULE) else "__module__", None)
    return home if isinstance(home, str) else ""
