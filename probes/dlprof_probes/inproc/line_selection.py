"""Which files are profiled by line."""

import fnmatch
import os
import sys


class Selection(object):
    """Which files are profiled by line: the script, modules beside it, and what the user named.

    Args:
        script: Absolute path of the script.
        patterns: Module names (`pkg.mod`, which take in what is below them) or file patterns.
    """

    def __init__(self, script, patterns):
        self._script = script
        self._beside = os.path.dirname(script) + os.sep
        self._patterns = patterns
        self._excluded = tuple({os.path.realpath(p) + os.sep for p in _library_folders()})

    def __call__(self, path, module=""):
        """Whether the file at `path`, imported as `module`, is selected."""
        if not path or path.startswith("<"):
            return False
        path = os.path.abspath(path)
        if path == self._script or any(self.named(path, module, pattern) for pattern in self._patterns):
            return True
        return path.startswith(self._beside) and not self._is_library(path)

    def _is_library(self, path):
        below = path[len(self._beside) :].split(os.sep)
        return "site-packages" in below or "dist-packages" in below or os.path.realpath(path).startswith(self._excluded)

    @staticmethod
    def named(path, module, pattern):
        """Whether a pattern names the file at an absolute path, or the module."""
        if os.sep in pattern or pattern.endswith(".py"):
            pattern = os.path.abspath(pattern)
            return path == pattern or path.startswith(pattern + os.sep) or fnmatch.fnmatch(path, pattern)
        return module == pattern or module.startswith(pattern + ".")


def _library_folders():
    folders = [os.path.dirname(os.__file__)]
    folders.extend(p for p in sys.path if os.path.basename(p) in ("site-packages", "dist-packages"))
    return folders
