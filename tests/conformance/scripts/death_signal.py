"""What the kernel was told about this process: the signal at its parent's death, its name, whether others may look at it."""

import ctypes

kernel = ctypes.CDLL(None)
number = ctypes.c_int()
kernel.prctl(2, ctypes.byref(number), 0, 0, 0)
print("signal at the parent's death", number.value)
print("dumpable", kernel.prctl(3, 0, 0, 0, 0))
kernel.prctl(37, ctypes.byref(number), 0, 0, 0)
print("takes in orphans", number.value)
print("name", open("/proc/self/comm").read().strip())
