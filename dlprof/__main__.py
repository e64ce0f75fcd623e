"""The `dlprof` command, also as `python -m dlprof`."""

from __future__ import annotations

import os
import sys

from dlprof_probes import own_path

own_path.settle(first=__name__ == "__main__")  # before modules are loaded that a file of the user's may hide

import atexit  # noqa: E402
import contextlib  # noqa: E402
import gc  # noqa: E402
import threading  # noqa: E402

from dlprof.launch import bytecode  # noqa: E402

bytecode.stay_whole()  # before anything else of dlprof's is compiled

from dlprof import cli, safe_output, streams  # noqa: E402
from dlprof.errors import DlprofError, ExitCode  # noqa: E402
from dlprof.launch import inherited  # noqa: E402
from dlprof.units import SPELLED  # noqa: E402

_COLLECTED = (50_000, 10, 10)
"""Objects after which Python looks for cycles, instead of 700: modules that are being loaded are many, and stay."""


def main() -> int:
    """Run the command line; returns the exit code."""
    inherited.at_start()
    streams.guard()
    try:
        try:
            with safe_output.guarded():
                return _run()
        finally:
            sys.stdout.flush()
    except streams.OutputError as error:
        return _output_failed(error)


def _run() -> int:
    try:
        command, args = cli.parse(sys.argv[1:])
        return command.run(args)
    except DlprofError as error:
        print(f"dlprof: error: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"  try: {error.hint}", file=sys.stderr)
        return int(error.exit_code)
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)
    except streams.OutputError:
        raise
    except MemoryError:
        return _no_memory()
    except Exception as error:  # noqa: BLE001  (the last line of defence)
        if _folder_is_gone(error):
            return _no_folder()
        hiding = _hiding_file() if isinstance(error, (ImportError, AttributeError)) else None
        return _hidden_module(hiding) if hiding else _bug(error)


def _output_failed(error: streams.OutputError) -> int:
    """What was asked for cannot be printed. Where a reader has enough (`| head`), nothing is said."""
    if error.reader_is_gone:
        return int(ExitCode.READER_GONE)
    reason = (error.strerror or "it failed").lower()
    print(f"dlprof: error: Standard output cannot be written to: {reason}.", file=sys.stderr)
    return int(ExitCode.CANNOT_CREATE)


def _folder_is_gone(error: Exception) -> bool:
    """Whether something failed because the current folder was removed."""
    if not isinstance(error, FileNotFoundError):
        return False
    try:
        os.getcwd()  # noqa: PTH109  (asks the kernel, and nothing else)
    except OSError:
        return True
    return False


def _no_folder() -> int:
    print("dlprof: error: The current folder was removed.", file=sys.stderr)
    print("  try: cd to one that exists", file=sys.stderr)
    return int(ExitCode.NO_INPUT)


def _no_memory() -> int:
    from dlprof.launch import memory_limit  # noqa: PLC0415

    text = memory_limit.as_clause()
    print(f"dlprof: error: {text[0].upper()}{text[1:]}.", file=sys.stderr)
    if memory_limit.allowed() is not None:
        print("  try: ulimit -v unlimited", file=sys.stderr)
    return int(ExitCode.UNAVAILABLE)


def _hiding_file() -> str | None:
    """The file that was taken in the place of a module of Python's, as `json.py` in the current folder."""
    home = os.path.dirname(os.__file__) + os.sep  # noqa: PTH120  (pathlib may be what is hidden)
    for name in sys.stdlib_module_names - {"distutils"}:  # setuptools has that one, too
        path = str(getattr(sys.modules.get(name), "__file__", None))
        if path.endswith(".py") and not path.startswith(home):
            return path
    return None


def _hidden_module(path: str) -> int:
    """Python looks into the current folder first under `python -m`, and into those of PYTHONPATH always."""
    print(f"dlprof: error: {path} hides the module of Python's that has its name.", file=sys.stderr)
    print(
        "  try: dlprof instead of python -m dlprof; or rename it, or take its folder from PYTHONPATH", file=sys.stderr
    )
    return int(ExitCode.UNAVAILABLE)


def _bug(error: Exception) -> int:
    """Say in one line that dlprof failed, and keep the traceback for a report."""
    if os.environ.get("DLPROF_DEBUG"):
        import traceback  # noqa: PLC0415

        traceback.print_exc()
    else:
        print(f"dlprof: internal error: {type(error).__name__}: {error}", file=sys.stderr)
        print(f"  {_kept_traceback()}; please report it", file=sys.stderr)
    return int(ExitCode.INTERNAL)


def _kept_traceback() -> str:
    """Where the traceback is kept, as a clause."""
    import tempfile  # noqa: PLC0415
    import traceback  # noqa: PLC0415

    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="dlprof-error-", suffix=".txt", delete=False, encoding="utf-8", errors=SPELLED
        ) as out:
            traceback.print_exc(file=out)
    except OSError as error:
        return f"the traceback could not be kept ({error.strerror}): DLPROF_DEBUG=1 prints it"
    return f"the traceback is in {out.name}"


def program() -> int:
    """The command as a process of its own: as `main`, but sooner there and sooner gone. Returns the exit code."""
    gc.set_threshold(*_COLLECTED)
    code = main()
    _end(code)
    return code


def _end(code: int) -> None:
    """End this process, once all that is registered for its end is done, but leave its modules to the kernel.

    Taking them apart, one by one, takes half as long as loading them. Where somebody traces this process or wants to
    look at it, or a thread is still at work, Python ends it as ever.
    """
    watched = sys.gettrace() is not None or sys.getprofile() is not None or sys.flags.inspect
    if watched or any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        return
    atexit._run_exitfuncs()  # noqa: SLF001
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # main has said what there was to say of it
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    sys.exit(program())
