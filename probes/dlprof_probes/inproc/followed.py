"""The probes in a Python below a followed program, from the import of an engine on (`entry/below`).

In a worker that makes itself a rank of a training they begin there: `start_rank`.

Its run folder is made here, by the process itself: nobody else knows of it yet. The conductor finds it there.
"""

import os
import re
import sys
from io import open as open_text
from json import dumps, load
from os import O_CREAT, O_EXCL, O_WRONLY, close, getcwd, getpid, getppid, listdir, mkdir
from os import open as open_

from dlprof_probes.inproc import exit_status, own_files, process_life, session, shadowing, tracebacks, uncaught
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.patching import Patches
from dlprof_probes.wire import CHILD_FACTS

STATUS_BYTES = 1024
_NAME_LENGTH = 40
_RANKS = (
    "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "TORCHELASTIC_RESTART_COUNT",
    "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
    "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS",
    "HOROVOD_RANK", "HOROVOD_LOCAL_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_SIZE",
    "SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS_PER_NODE", "TF_CONFIG",
)  # fmt: skip
"""What tells the processes of one distributed training apart: `dlprof.launch.ranks` reads it."""


def start(settings, engine, boot_ns, known):
    """Take a folder among the children, and begin to trace there.

    Args:
        settings: The module `follow_settings`.
        engine: Name of the module that is about to be imported.
        boot_ns: When this process first ran a line of dlprof.
        known: Names of the modules that were loaded before.

    Returns:
        bool: Whether this process is traced now; it is not where there are enough of them already.
    """
    command = list(getattr(sys, "orig_argv", None) or [sys.executable] + sys.argv)
    return _start(settings, {"engine": engine, "boot_ns": boot_ns, "command": command}, known)


def start_rank(settings, engine, boot_ns, known):
    """The same in a worker of `multiprocessing`, or in a forked child, that is about to make itself a rank.

    Its own command line is that of `multiprocessing`; what it has as its arguments is what the program was called with.
    """
    settings.seen()
    command = [sys.executable] + sys.argv
    return _start(settings, {"engine": engine, "boot_ns": boot_ns, "command": command, "worker": True}, known)


def _start(settings, told, known):
    begun = now()
    folder = _take(settings)
    if folder is None:
        settings.passed_over()
        return False
    with open_text(settings.CONFIG, encoding="utf-8") as source:
        config = load(source)
    raw = os.path.join(folder, "raw")
    mkdir(raw, 0o700)
    config.update(raw=raw, status=os.path.join(raw, "inproc.status"))
    own_files.save(config["status"], b" " * STATUS_BYTES)
    try:
        Followed(config, told["boot_ns"], begun).follow_forks(settings, start_rank)
    except Exception as error:
        own_files.overwrite(config["status"], dumps({"failed": "%s: %s" % (type(error).__name__, error)}).encode())
    exit_status.watch(os.path.join(raw, "exit"), settings.CONDUCTOR)
    facts = dumps(dict(_facts(), begun_ns=begun, **told)).encode("ascii")
    own_files.save_whole(os.path.join(folder, CHILD_FACTS), facts)
    shadowing.forget(shadowing.before_library(), known)
    return True


class Followed(session.Session):
    """The session of such a process: it began before its probe did.

    Args:
        config: As of a script's process.
        boot_ns: When this process first ran a line of dlprof: the script begins there.
        begun_ns: When the probe began to load.
    """

    def __init__(self, config, boot_ns, begun_ns):
        super(Followed, self).__init__(config, config["script"], boot_ns, begun_ns)
        self.imports.attach()
        tracebacks.install(Patches())
        self.start_script(boot_ns)
        tell = uncaught.teller(self.recorder, self.probe.is_user_file)
        tracebacks.hook_printing(tell)
        tracebacks.hook_workers(Patches(), tell)
        process_life.at_shutdown(self)
        _KEPT.append(self)


_KEPT = []  # type: ignore[var-annotated]
"""The session lives as long as the process."""


def _take(settings):
    """A new folder; None: as many as are allowed are there."""
    name = _label()
    for number in range(len(listdir(settings.TAKEN)) + 1, settings.MOST + 1):
        lock = os.path.join(settings.TAKEN, "%03d" % number)
        try:
            close(open_(lock, O_CREAT | O_EXCL | O_WRONLY, 0o600))
        except OSError:  # another one was faster
            continue
        folder = os.path.join(settings.CHILDREN, "%03d-%s" % (number, name))
        mkdir(folder, 0o700)
        return folder
    return None


def _label():
    """A name for this program that any file system takes."""
    words = list(getattr(sys, "orig_argv", [])) or list(sys.argv)
    module = words[words.index("-m") + 1] if "-m" in words[:-1] else ""
    name = module or os.path.splitext(os.path.basename(sys.argv[0] if sys.argv else ""))[0]
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.")[:_NAME_LENGTH] or "python"


def _facts():
    return {
        "pid": getpid(),
        "parent": getppid(),
        "folder": getcwd(),
        "executable": sys.executable,
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        "implementation": sys.implementation.name,
        "ranks": dict((name, os.environ[name]) for name in _RANKS if name in os.environ),
        "started": _started(),
    }


def _started():
    """When the kernel made this process, in its ticks since boot; None: it does not tell."""
    try:
        with open_text("/proc/self/stat", "rb") as source:
            return int(source.read().rpartition(b")")[2].split()[19])
    except (OSError, IndexError, ValueError):
        return None
