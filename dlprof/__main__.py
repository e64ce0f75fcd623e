"""The `dlprof` command, also as `python -m dlprof`."""

from __future__ import annotations

import os
import sys

from dlprof import cli, safe_output, streams
from dlprof.errors import DlprofError, ExitCode
from dlprof.launch import inherited
from dlprof.units import SPELLED


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
    except Exception as error:  # noqa: BLE001  (the last line of defence)
        return _no_folder() if _folder_is_gone(error) else _bug(error)


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


if __name__ == "__main__":
    sys.exit(main())
