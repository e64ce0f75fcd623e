"""Has Python run the program with nothing of ours below it.

`python PAYLOAD/dlprof_probes/inproc/entry CONFIG.json`, with this folder first on PYTHONPATH: Python loads this file
as it starts, then sees that it is to run a folder, and asks the module `runpy` for what runs one. It gets a function
of C that runs the program, made by `boot.prepare`: the program's first frame is the first of all, as without dlprof.
Other Pythons that are started with this PYTHONPATH (a launcher in front of the program's own) run as ever.
"""

import sys
import time

_BOOT_NS = int(time.perf_counter() * 1e9) if not hasattr(time, "perf_counter_ns") else time.perf_counter_ns()

_KNOWN = set(sys.modules)

import os  # noqa: E402

_OURS = set(sys.modules) - _KNOWN
_HERE = os.path.dirname(os.path.abspath(__file__))
_PAYLOAD = os.path.dirname(os.path.dirname(os.path.dirname(_HERE)))
_RUN_FOLDER = "_run_module_as_main"


class _RunPy(type(sys)):  # type: ignore[misc]
    """Stands for `runpy` until somebody wants something of it."""

    dlprof_entry = True

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        sys.modules.pop("runpy", None)
        if name == _RUN_FOLDER and [os.path.abspath(each) for each in sys.argv[:1]] == [_HERE]:
            return _prepared()
        import runpy

        return getattr(runpy, name)


def _prepared():
    given = _restore_python_path()
    known = set(sys.modules) - _OURS
    path = sys.path[1:]
    # Last, until the program begins: a `json.py` that lies there is the program's, and none that we may load.
    users = [each for each in path if os.path.abspath(each) in given]
    sys.path[:] = [_PAYLOAD] + [each for each in path if each not in users] + users
    from dlprof_probes.inproc import own_builtins

    (boot,) = own_builtins.load(["boot"])
    return boot.prepare(sys.argv[1], _BOOT_NS, known, path)


def _restore_python_path():
    """What the program starts has the PYTHONPATH that it would have had; returns the folders that are on it."""
    rest = os.environ.get("PYTHONPATH", "").split(os.pathsep)[1:]
    if rest:
        os.environ["PYTHONPATH"] = os.pathsep.join(rest)
    else:
        os.environ.pop("PYTHONPATH", None)
    return {os.path.abspath(each) for each in rest}


def _load_own():
    """The `sitecustomize` that Python would have loaded; ImportError, which it expects, where there is none."""
    sys.path[:] = [each for each in sys.path if os.path.abspath(each) != _HERE]
    sys.path_importer_cache.pop(_HERE, None)
    del sys.modules["sitecustomize"]
    __import__("sitecustomize")


sys.modules["runpy"] = _RunPy("runpy")
_load_own()
