"""The `dlprof` command, also as `python -m dlprof`."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import traceback

from dlprof import cli, safe_output
from dlprof.errors import DlprofError, ExitCode
from dlprof.units import SPELLED


def main() -> int:
    """Run the command line; returns the exit code."""
    _never_fail_to_print()
    with safe_output.guarded():
        return _run()


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
    except BrokenPipeError:  # `dlprof … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001  (the last line of defence)
        return _bug(error)


def _never_fail_to_print() -> None:
    """Have streams that are not of UTF-8 spell what they cannot show."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and "utf" not in stream.encoding.lower():
            stream.reconfigure(errors=SPELLED)


def _bug(error: Exception) -> int:
    """Say in one line that dlprof failed, and keep the traceback for a report."""
    if os.environ.get("DLPROF_DEBUG"):
        traceback.print_exc()
    else:
        with tempfile.NamedTemporaryFile("w", prefix="dlprof-error-", suffix=".txt", delete=False) as out:
            traceback.print_exc(file=out)
        print(f"dlprof: internal error: {type(error).__name__}: {error}", file=sys.stderr)
        print(f"  the traceback is in {out.name}; please report it", file=sys.stderr)
    return int(ExitCode.INTERNAL)


if __name__ == "__main__":
    sys.exit(main())
