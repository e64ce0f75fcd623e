"""Entry point of the traced process: `python PAYLOAD/dlprof_probes/inproc/start.py CONFIG.json`.

It only finds its own package, leaves no trace of that on `sys.path`, and hands over.
"""

import time

_BOOT_NS = int(time.perf_counter() * 1e9) if not hasattr(time, "perf_counter_ns") else time.perf_counter_ns()

import os  # noqa: E402
import sys  # noqa: E402

_dlprof_own = True  # tracebacks leave the frames of this file out


def _main():
    payload = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.path[0] = payload
    from dlprof_probes.inproc import boot

    boot.main(sys.argv[1], _BOOT_NS)


_main()
