"""Gives our modules builtins of their own: what a program puts in the place of `len` or `Exception` is not met by us.

A function finds its builtins by the globals that it was made with. So ours are loaded with a copy of them in place.
"""

import builtins
import importlib
import sys
from importlib.machinery import PathFinder, SourceFileLoader

_PACKAGE = "dlprof_probes."
NAMES = dict(vars(builtins))
"""The builtins as they were when the first of ours was loaded."""


class _Loader(SourceFileLoader):
    def exec_module(self, module):
        vars(module)["__builtins__"] = NAMES
        super(_Loader, self).exec_module(module)


class Finder(object):
    """Finds modules of ours, while it is on `sys.meta_path`."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        """As other finders; None for all that is not ours."""
        if not name.startswith(_PACKAGE):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


def load(names):
    """Load modules of the package `dlprof_probes.inproc`, and all that they load, with builtins of their own.

    Args:
        names: Their names in that package.

    Returns:
        list: The modules.
    """
    sys.meta_path.insert(0, Finder)
    try:
        return [importlib.import_module("dlprof_probes.inproc." + name) for name in names]
    finally:
        sys.meta_path.remove(Finder)
