"""line_profiler, wherever it lies: its C extension alone, or all of it.

The extension is what counts. The package around it, which is for people, loads argparse, multiprocessing, tomllib and
more, and takes ten times as long: programs get it that mention `profile`, and notebooks.
"""

import importlib
import importlib.util
import os
import sys
import types

from dlprof_probes.inproc import shadowing

NAME = "line_profiler"
_EXTENSION = NAME + "._line_profiler"
_NEEDED = ("add_function", "enable", "disable", "enable_by_count", "disable_by_count", "get_stats")


class LineModule(object):
    """Where line_profiler comes from.

    Args:
        folder: Folder that holds it, which is on the path only while it is loaded; None: it is on the path.
    """

    def __init__(self, folder=None):
        self._folder = folder
        self._parts = {}

    def core(self):
        """The class `LineProfiler` of the C extension; that of the package where the extension cannot be had alone.

        Raises:
            ImportError: When line_profiler cannot be had on this interpreter.
        """
        if NAME in sys.modules:
            return self.whole()
        try:
            made = self._on_path(self._extension).LineProfiler
            if all(hasattr(made, name) for name in _NEEDED):
                return type("LineProfiler", (made,), {"__module__": __name__})  # line_profiler 5.0 refers to it weakly
        except Exception:  # another line_profiler than those that we know
            pass
        return self.whole()

    def whole(self):
        """The class `LineProfiler` of the package.

        Raises:
            ImportError: When line_profiler cannot be had on this interpreter.
        """
        sys.modules.update(self._parts)  # an extension is not loaded twice
        with shadowing.UsersLast():
            return self._on_path(lambda: importlib.import_module(NAME)).LineProfiler

    def _extension(self):
        """The extension, loaded with nothing but a name for its package; the program does not find that."""
        package = types.ModuleType(NAME)
        package.__path__ = list(importlib.util.find_spec(NAME).submodule_search_locations)
        sys.modules[NAME] = package
        try:
            return importlib.import_module(_EXTENSION)
        finally:
            del sys.modules[NAME]
            self._parts = {name: sys.modules[name] for name in list(sys.modules) if name.startswith(NAME + ".")}
            if self._folder:  # the program may have another line_profiler
                for name in self._parts:
                    del sys.modules[name]

    def _on_path(self, load):
        """Load something with the folder on the path; what else comes from there is forgotten again."""
        folder = self._folder
        if not folder:
            return load()
        # At the end of the path where that will do: the user's own packages come first then.
        own = importlib.util.find_spec(NAME) is not None
        sys.path.insert(0 if own else len(sys.path), folder)
        try:
            return load()
        finally:
            sys.path.remove(folder)
            for name, module in list(sys.modules.items()):
                file = getattr(module, "__file__", None) or ""
                if file.startswith(folder + os.sep) and name.split(".")[0] != NAME:
                    del sys.modules[name]  # the program must not find what it does not have
