"""Which modules are loaded before the script has loaded any, and what a module of the script's own name shadows."""

import sys

print([name for name in ("json", "threading", "queue", "random", "statistics", "dlprof_probes") if name in sys.modules])
import json
import queue
import random

print(json.__name__, getattr(json, "WHO", "Python's"))
print(queue.__name__, getattr(queue, "WHO", "Python's"))
print(random.__name__, getattr(random, "WHO", "Python's"))
