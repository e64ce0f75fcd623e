"""The `sitecustomize` of Pythons below a followed program: traces those that import a known engine, and no others.

A copy lies in the run folder, with its settings (`follow_settings.py`: package, folder, names of engines) beside it;
that folder is in front on PYTHONPATH. All other Pythons lose a look-up per module that they load, no more. Python's own
`sitecustomize`, if there is one, runs after this.

Another copy is for workers of a process that is traced (`ONLY_RANKS` in its settings): they are part of that one's run,
but for those that make themselves ranks of a training.
"""

import sys
import time

_BOOT_NS = int(time.perf_counter() * 1e9) if not hasattr(time, "perf_counter_ns") else time.perf_counter_ns()

import os  # noqa: E402

_HERE = os.path.dirname(os.path.abspath(__file__))
_LIBRARY = os.path.dirname(os.path.abspath(os.__file__))
_BESIDE = ("dlprof_pass_on", "follow_settings")
"""Modules that lie in this folder too."""
_MACHINERY = "<frozen importlib._bootstrap>"
_RANKS = (
    "torch.distributed.distributed_c10d",
    "jax._src.distributed",
    "tensorflow.python.distribute.collective_all_reduce_strategy",
)
"""Modules that make ranks, as `late_ranks.MAKERS` has them."""
_WATCH = """
def watching(original, begins, again):
    def _find_and_load(name, import_):
        return (again() if begins(name) else original)(name, import_)
    return _find_and_load
"""
_WATCH_LOADED = """
def watching(original, names, loaded):
    def _find_and_load(name, import_):
        module = original(name, import_)
        if name in names:
            loaded(name, module)
        return module
    return _find_and_load
"""
"""Compiled under the name of the import machinery: Python leaves frames of that out of tracebacks."""


class Waiting(object):
    """Stands before the import system until the module that is waited for comes.

    Args:
        settings: The module `follow_settings`.
        pass_on: What hands the folder on to children.
    """

    def __init__(self, settings, pass_on):
        self._settings = settings
        self._pass_on = pass_on
        self._machinery = sys.modules["_frozen_importlib"]
        self._original = self._machinery._find_and_load

    def _put_back(self):
        self._machinery._find_and_load = self._original


class Watch(Waiting):
    """Waits for the import of an engine."""

    def __init__(self, settings, pass_on):
        super(Watch, self).__init__(settings, pass_on)
        self._names = frozenset(settings.ENGINES)

    def install(self):
        """Begin to wait."""
        self._machinery._find_and_load = _compiled(_WATCH)(self._original, self._begins, self._again)

    def _again(self):
        """What loads modules now: the probe's, where it could begin."""
        return self._machinery._find_and_load

    def _begins(self, name):
        """Begin to trace if this is an engine; returns whether the import is to begin anew."""
        if name not in self._names or name in sys.modules:
            return False
        self._names = frozenset()
        self._put_back()
        try:
            self._trace(name)
        except Exception:  # the program goes its way
            pass
        return True

    def _trace(self, name):
        known = set(sys.modules)
        followed = _ours(self._settings, "followed")
        self._pass_on.own_workers = followed.start(self._settings, name, _BOOT_NS, known)


class WatchForRank(Waiting):
    """Waits for a worker to make itself a rank."""

    def install(self):
        """Begin to wait: for modules that make ranks, then for their calls."""
        self._names = set(_RANKS)
        self._machinery._find_and_load = _compiled(_WATCH_LOADED)(self._original, self._names, self._loaded)

    def _loaded(self, name, module):
        self._names.discard(name)
        if not self._names:
            self._put_back()
        try:
            maker = _ours(self._settings, "late_ranks").MAKERS[name]
            maker.wait(module, lambda: self._trace(maker.engine))
        except Exception:  # the program goes its way
            pass

    def _trace(self, engine):
        if self._pass_on.own_workers:  # a rank of two engines
            return
        if self._names:  # else the import system is as it was, or another's by now
            self._names.clear()
            self._put_back()
        known = set(sys.modules)
        followed = _ours(self._settings, "followed")
        self._pass_on.own_workers = followed.start_rank(self._settings, engine, _BOOT_NS, known)


def _compiled(text):
    space = {}
    exec(compile(text, _MACHINERY, "exec"), space)  # noqa: S102
    return space["watching"]


def _ours(settings, name):
    """A module of the probe."""
    path = list(sys.path)
    sys.path[:] = [settings.PACKAGE] + [each for each in path if _is_pythons(each)]
    try:
        package = __import__("dlprof_probes.inproc", fromlist=["own_builtins"])
        return package.own_builtins.load([name])[0]
    finally:
        sys.path[:] = path


def _is_pythons(folder):
    """Whether it holds the standard library: the program's own modules are none that we may load."""
    inside = folder[len(_LIBRARY) :].strip(os.sep)
    return folder.startswith(_LIBRARY) and inside in ("", "lib-dynload")


def _begin():
    module, settings = (__import__(name) for name in _BESIDE)
    for name in _BESIDE:
        del sys.modules[name]
    pass_on = module.PassOn(_HERE, settings.WORKERS)
    pass_on.install()
    if settings.ONLY_RANKS:
        WatchForRank(settings, pass_on).install()
    else:
        Watch(settings, pass_on).install()
        settings.seen()


def _load_own():
    """The `sitecustomize` that Python would have loaded; ImportError, which it expects, where there is none."""
    sys.path[:] = [each for each in sys.path if os.path.abspath(each) != _HERE]
    sys.path_importer_cache.pop(_HERE, None)
    del sys.modules["sitecustomize"]
    __import__("sitecustomize")


try:
    if not hasattr(type(sys.modules.get("runpy")), "dlprof_entry"):  # else this is the script that is traced already
        _begin()
except Exception:  # a folder that is gone, a Python that is unlike others: it goes its way
    pass
_load_own()
