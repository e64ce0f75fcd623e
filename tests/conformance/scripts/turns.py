"""After how long Python has threads take turns, in a loop of many lines and behind it."""

import sys
import time


def mostly(seconds):
    """What it is for most of a time: while a moment of it is counted it may be less."""
    seen = {}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        interval = sys.getswitchinterval()
        seen[interval] = seen.get(interval, 0) + 1
    return max(seen, key=lambda interval: seen[interval])


first = mostly(2)
time.sleep(0.2)
print(first, mostly(0.5))
