"""Entry point of the traced process: `python PAYLOAD/dlprof_probes/inproc/entry CONFIG.json`.

It runs only where Python did not load `sitecustomize` from beside it (it was started through something that takes
PYTHONPATH away): the program has frames of ours below it then. It finds its own package, leaves no trace of that on
`sys.path`, and hands over.
"""

import time

_BOOT_NS = int(time.perf_counter() * 1e9) if not hasattr(time, "perf_counter_ns") else time.perf_counter_ns()

import sys  # noqa: E402

_KNOWN = set(sys.modules)

import os  # noqa: E402


def _main():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.dirname(here)))
    from dlprof_probes.inproc import own_builtins

    (boot,) = own_builtins.load(["boot"])
    boot.main(sys.argv[1], _BOOT_NS, _KNOWN)


_main()
