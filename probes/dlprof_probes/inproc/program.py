"""The user's script or module, and the interpreter state that Python would have given it."""

import functools
import importlib.machinery
import io
import os
import sys


class Program(object):
    """What is to be run, as the configuration of the conductor says.

    Args:
        config: `argv`, `module` (None: a script), `script`.

    Attributes:
        path: Path of the script, or name of the module.
    """

    def __init__(self, config):
        self.path = config["script"]
        self._argv = config["argv"]
        self._module = config.get("module")
        self._namespace = None

    def prepare_interpreter(self):
        """Set `sys.argv` and `__main__`, which is Python's own without what ran in it."""
        sys.argv = list(self._argv)
        if hasattr(sys, "orig_argv"):
            what = ["-m", self._module, *self._argv[1:]] if self._module else self._argv
            sys.orig_argv = [sys.orig_argv[0], *what]
        self._namespace = sys.modules["__main__"].__dict__
        for name in [name for name in self._namespace if name not in _OF_PYTHON]:
            del self._namespace[name]

    def enter_folder(self, known):
        """Set `sys.path[0]`: from here on the program's own modules are found; the probe has loaded what it needs.

        Args:
            known: Names of the modules that Python itself had loaded when it started.
        """
        if getattr(sys.flags, "safe_path", False):
            del sys.path[0]
            return
        sys.path[0] = os.getcwd() if self._module else os.path.dirname(os.path.realpath(self.path))
        forget_shadowed(sys.path[0], known)

    def call(self, profiled=None):
        """A function of C without arguments that runs the program; what cannot be loaded fails there, as in Python.

        Args:
            profiled: Function from the code and its text to the code to be run; None: as it is.
        """
        return self._call_of_module(profiled) if self._module else self._call_of_script(profiled)

    def _call_of_script(self, profiled):
        file = os.path.abspath(self.path) if sys.version_info >= (3, 9) else self._argv[0]
        self._namespace.update(
            __file__=file,
            __loader__=importlib.machinery.SourceFileLoader("__main__", file),
            __spec__=None,
            __package__=None,
            __cached__=None,
            __doc__=None,
        )
        read = functools.partial(io.open, file, "rb")
        try:
            with read() as source:
                text = source.read()
        except OSError:
            return read
        compiled = functools.partial(compile, text, file, "exec", 0, True)
        try:
            code = compiled()
        except Exception:
            return compiled
        return functools.partial(exec, profiled(code, text) if profiled is not None else code, self._namespace)

    def _call_of_module(self, profiled):
        """`python -m` itself, so that packages, frames and errors come out alike."""
        import runpy  # a script does not find it loaded

        if profiled is not None:
            details = runpy._get_module_details

            def once(*args, **more):
                runpy._get_module_details = details  # which calls itself for a package
                name, spec, code = details(*args, **more)
                return name, spec, profiled(code, b"profile")

            runpy._get_module_details = once
        return functools.partial(runpy._run_module_as_main, self._module, True)


def forget_shadowed(folder, known):
    """Forget modules whose names belong to files of the program's: it shall find those, as if we had loaded nothing.

    The probe keeps what it has. A script may lie beside a `json.py` or a `random.py` of its author's.

    Args:
        folder: Where the program looks first.
        known: Names of modules that are not ours to forget.
    """
    kept = set(known).union(sys.builtin_module_names, ("__main__", "dlprof_probes"))
    names = {name.partition(".")[0] for name in sys.modules} - kept
    shadowed = {name for name in names if _is_file_in(folder, name)}
    for name in list(sys.modules):
        if name.partition(".")[0] in shadowed:
            del sys.modules[name]


def _is_file_in(folder, name):
    """Whether `import name` would load a file of this folder; a folder without `__init__.py` only counts last."""
    try:
        spec = importlib.machinery.PathFinder.find_spec(name, [folder])
    except Exception:
        return False
    return spec is not None and spec.loader is not None


_OF_PYTHON = ("__annotations__", "__builtins__", "__doc__", "__loader__", "__name__", "__package__", "__spec__")
"""What is in `__main__` before anything runs."""
