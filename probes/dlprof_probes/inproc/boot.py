"""Starts the probes in the traced process and runs the user's script as Python would have."""

import collections
import functools
import io
import json
import os
import sys
import types

from dlprof_probes import wire
from dlprof_probes.inproc import own_files, pass_on, process_life, tracebacks, uncaught
from dlprof_probes.inproc.patching import Patches
from dlprof_probes.inproc.program import Program
from dlprof_probes.inproc.session import Session


def main(config_path, boot_ns, known=None):
    """Run the program named in the configuration, from a frame of ours.

    Args:
        config_path: JSON file written by the conductor.
        boot_ns: When this process first ran a line of dlprof.
        known: Names of the modules that were loaded before; None: all that are loaded now.
    """
    run, session = _ready(config_path, boot_ns, known)
    try:
        run()
    except BaseException:
        tracebacks.hook_uncaught(_teller(session))
        raise
    finally:
        if session is not None:
            session.end_script()


def prepare(config_path, boot_ns, known=None, path=None):
    """The same, but for Python itself to run: a function of C, so that no frame of ours is below the program's.

    It is called with what Python passes to `runpy._run_module_as_main`, and passes over that: `str.format` takes no
    notice of arguments that its text does not name, and the item that is named is made by running the program.

    Args:
        config_path: See `main`.
        boot_ns: See `main`.
        known: See `main`.
        path: What is on the program's import path behind its own folder; None: it is as it should be.
    """
    run, session = _ready(config_path, boot_ns, known, path)
    tracebacks.hook_printing(_teller(session))
    if session is not None:
        process_life.at_shutdown(session)
    return functools.partial("{0[run]}".format, collections.defaultdict(run))


def _ready(config_path, boot_ns, known, path=None):
    """What runs the program, without arguments, and its session; None where the probe could not start."""
    with io.open(config_path, encoding="utf-8") as source:
        config = json.load(source)
    if config.get("pid"):
        own_files.save(config["pid"], str(os.getpid()).encode("ascii"))
    program = Program(config)
    program.prepare_interpreter()
    settings = _follow(config.get("follow"))
    session = None
    try:
        session = Session(config, program.path, boot_ns)
        if settings is not None:
            session.follow_forks(settings, _start_rank)
    except Exception as error:
        _leave_status(config, "the in-process probe did not start: %s: %s" % (type(error).__name__, error))
    tracebacks.install(Patches())
    if session is not None:
        session.heap.start()
        session.start_script()
    if path is not None:
        sys.path[1:] = path
    program.enter_folder(sys.modules if known is None else known)
    return program.call(session.profiled if session is not None else None), session


def _teller(session):
    """What records an uncaught exception; None: there is no session that could."""
    return None if session is None else uncaught.teller(session.recorder, session.probe.is_user_file)


def _follow(folder):
    """Have Python children followed, where the conductor wants that, and hide it from the program.

    Returns:
        What children are told, as the module `follow_settings`; None: they are not followed.
    """
    if not folder:
        return None
    try:
        settings = types.ModuleType("follow_settings")
        with io.open(os.path.join(folder, "follow_settings.py"), encoding="utf-8") as source:
            exec(source.read(), settings.__dict__)  # noqa: S102
        handed = pass_on.PassOn(folder, settings.WORKERS)
        handed.own_workers = True
        handed.install()
    except Exception:  # an interpreter that is unlike others: its children are not followed
        return None
    return settings


def _start_rank(*told):
    """As `followed.start_rank`: loaded where it is needed."""
    from dlprof_probes.inproc import followed

    return followed.start_rank(*told)


def _leave_status(config, reason):
    try:
        own_files.overwrite(config["status"], wire.json_payload({"failed": reason})[:1000])
    except OSError:
        pass
