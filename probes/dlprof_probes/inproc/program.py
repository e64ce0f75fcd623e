"""The user's script or module, and the interpreter state that Python would have given it."""

import functools
import io
import os
import sys

from dlprof_probes.inproc import main_file, shadowing


class Program(object):
    """What is to be run, as the configuration of the conductor says.

    Args:
        config: `argv`, `module` (None: a script), `script`.

    Attributes:
        path: Path of the script, or name of the module; of a folder or an archive that is run, of its `__main__`.
    """

    def __init__(self, config):
        self.path = config["script"]
        self._argv = config["argv"]
        self._module = config.get("module")
        self._holder = None if self._module else main_file.holder(self._argv[0])
        if self._holder is not None:
            self.path = os.path.join(self._holder, main_file.MAIN + ".py")
        self._namespace = None
        self._known = frozenset()

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
        self._known = frozenset(known)
        if self._holder is not None:
            sys.path[0] = self._holder
        elif getattr(sys.flags, "safe_path", False):
            del sys.path[0]
        else:
            sys.path[0] = os.getcwd() if self._module else os.path.dirname(os.path.realpath(self.path))
        shadowing.forget(shadowing.before_library(), self._known)

    def call(self, profiled=None):
        """A function of C without arguments that runs the program; what cannot be loaded fails there, as in Python.

        Args:
            profiled: Function from the code and its text to the code to be run; None: as it is.
        """
        if self._holder is not None:
            return self._call_of_module(profiled, main_file.MAIN, False)
        return self._call_of_module(profiled, self._module, True) if self._module else self._call_of_script(profiled)

    def _call_of_script(self, profiled):
        file = os.path.abspath(self.path) if sys.version_info >= (3, 9) else self._argv[0]
        read = functools.partial(io.open, file, "rb")
        try:
            with read() as source:
                text = source.read()
        except OSError:
            return read
        self._namespace.update(
            __file__=file,
            __loader__=main_file.loader(file, text),
            __spec__=None,
            __package__=None,
            __cached__=None,
            __doc__=None,
        )
        code, fails = main_file.code_of(file, text)
        if fails is not None:
            return fails
        if profiled is not None:
            code = self._profiled(profiled, code, text)
        return functools.partial(exec, code, self._namespace)

    def _profiled(self, profiled, code, text):
        """The code to be run; what had to be loaded for it is nothing to the program, either."""
        before = len(sys.modules)
        with shadowing.UsersLast():  # what is loaded for it is ours: a file of the program's runs when that asks for it
            code = profiled(code, text)
        if len(sys.modules) != before:
            shadowing.forget(shadowing.before_library(), self._known)
        return code

    def _call_of_module(self, profiled, name, alters_arguments):
        """`python -m` itself, so that packages, frames and errors come out alike."""
        import runpy  # a script does not find it loaded

        if profiled is not None:
            details = runpy._get_module_details

            def once(*args, **more):
                runpy._get_module_details = details  # which calls itself for a package
                found, spec, code = details(*args, **more)
                return found, spec, self._profiled(profiled, code, b"profile")

            runpy._get_module_details = once
        return functools.partial(runpy._run_module_as_main, name, alters_arguments)


_OF_PYTHON = ("__annotations__", "__builtins__", "__doc__", "__loader__", "__name__", "__package__", "__spec__")
"""What is in `__main__` before anything runs."""
