"""How many threads there are, for the kernel and for Python."""

import sys
import threading

print([line.split() for line in open("/proc/self/status") if line.startswith("Threads")])
print(threading.active_count(), len(sys._current_frames()))
