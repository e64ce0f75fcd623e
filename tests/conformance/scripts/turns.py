"""After how long Python has threads take turns, in a loop of many lines and behind it."""

import sys
import time

# While a moment of it is counted that may be less: but for those it is what it was.
seen = {}
end = time.perf_counter() + 2
while time.perf_counter() < end:
    interval = sys.getswitchinterval()
    seen[interval] = seen.get(interval, 0) + 1

print(max(seen, key=lambda interval: seen[interval]), sys.getswitchinterval())
