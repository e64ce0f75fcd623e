"""Hands what follows Python children on to what a program starts, and hides it from the program itself.

Children are followed by a folder in front on PYTHONPATH. In C's environment it stays, so that all that a process starts
inherits it; in `os.environ` it is not: the program sees, and copies, what it would have had. Where it gives a child an
environment of its own, the folder is put in front again. Nothing but `os` is needed here: this runs in every
Python below a followed program, from a copy in the run folder (`inproc/entry/below`) or from the probe.
"""

import os
import sys
from os import fsdecode, fsencode

_NAME = b"PYTHONPATH"
_SEPARATOR = fsencode(os.pathsep)
_IN_OS = ("posix_spawn", "posix_spawnp", "execve")
"""Functions (program, arguments, environment, ...)."""
_ENVIRONMENT = 5
"""Place of the environment among the arguments of `_posixsubprocess.fork_exec`, from Python 3.6 to 3.14."""
_WORKERS = (b"--multiprocessing-fork", b"from multiprocessing.", b"loky.backend")
"""What is on the command line of a worker that is part of its parent's work."""
_INSTALLED = (b"/site-packages/", b"/dist-packages/")


class PassOn(object):
    """Hands the folder on.

    Args:
        folder: What is in front on PYTHONPATH.
        workers: What is in front there in workers of a traced process instead: they are part of its run, but for those
            that make themselves ranks.

    Attributes:
        own_workers: Whether workers of this process are part of its run: it is traced.
    """

    def __init__(self, folder, workers):
        self._folder = fsencode(folder)
        self._workers = fsencode(workers)
        self.own_workers = False
        self._left = None
        self._environ = None

    def install(self):
        """Hide the folder, and hook what starts programs.

        Raises:
            AttributeError: `os.environ` is not Python's own.
        """
        environ = os.environ._data
        rest = _joined(part for part in environ.get(_NAME, b"").split(_SEPARATOR) if part != self._folder)
        if rest:
            environ[_NAME] = rest
        else:
            environ.pop(_NAME, None)
        self._left = environ.get(_NAME)
        self._environ = environ
        for name in _IN_OS:
            if hasattr(os, name):
                self._hook(name)
        self._hook_subprocess()

    def _hook_subprocess(self):
        """`subprocess` starts programs by this function, and takes it out of its module when it is loaded."""
        import _posixsubprocess

        original = _posixsubprocess.fork_exec

        def fork_exec(*args):
            return original(*self._arguments(args))

        fork_exec.__wrapped__ = original
        _posixsubprocess.fork_exec = fork_exec
        loaded = sys.modules.get("subprocess")
        if getattr(loaded, "_fork_exec", None) is original:
            loaded._fork_exec = fork_exec

    def _hook(self, name):
        original = getattr(os, name)

        def start(path, args, env, *more, **named):
            return original(path, args, self._mapping(args, env), *more, **named)

        start.__name__ = start.__qualname__ = name
        start.__doc__ = original.__doc__
        start.__wrapped__ = original
        setattr(os, name, start)
        for known in (os.supports_fd, os.supports_follow_symlinks):
            if original in known:
                known.add(start)

    def _arguments(self, args):
        """Those of `fork_exec`, with the environment that the child is to have."""
        try:
            given = self._given(args[0], args[_ENVIRONMENT])
        except Exception:  # whatever was passed: the original says what is wrong with it
            return args
        return args[:_ENVIRONMENT] + (given,) + args[_ENVIRONMENT + 1 :]

    def _given(self, command, given):
        """An environment as a list, or None: that of this process."""
        folder = self._folder_for(command)
        if given is None:
            if folder == self._folder and self._environ.get(_NAME) == self._left:
                return None  # C's environment, which has the folder
            given = [key + b"=" + value for key, value in self._environ.items()]
        return _with(folder, given)

    def _folder_for(self, command):
        """The folder for what this command line starts."""
        is_own = self.own_workers and _is_worker([fsencode(word) for word in command])
        return self._workers if is_own else self._folder

    def _mapping(self, command, env):
        """An environment as a mapping, or None (from Python 3.13 on, which `subprocess` uses): that of this process."""
        try:
            folder = self._folder_for(command)
            if env is None:
                if folder == self._folder and self._environ.get(_NAME) == self._left:
                    return None  # C's environment, which has the folder
                env = dict(self._environ)
            given = dict(env.items())
            key = next((key for key in given if fsencode(key) == _NAME), "PYTHONPATH")
            path = _joined([folder, fsencode(given.get(key, b""))])
            given[key] = path if isinstance(key, bytes) else fsdecode(path)
            return given
        except Exception:
            return env


def _with(folder, given):
    """An environment (a list of `NAME=value`) with the folder in front on PYTHONPATH."""
    begin = _NAME + b"="
    before = next((entry[len(begin) :] for entry in given if entry.startswith(begin)), b"")
    rest = [entry for entry in given if not entry.startswith(begin)]
    return rest + [begin + _joined([folder, before])]


def _joined(parts):
    return _SEPARATOR.join(part for part in parts if part)


def _is_worker(words):
    """Whether a command line is a worker's: of `multiprocessing`, of loky, or a program of an installed package."""
    if any(sign in word for word in words[1:] for sign in _WORKERS):
        return True
    program = next((word for word in words[1:] if not word.startswith(b"-")), b"")
    module = b"-m" in words[1:3]
    return not module and program.endswith(b".py") and any(folder in program for folder in _INSTALLED)
