"""How deep the stack is, and how much is left of it."""

import sys
import traceback


def down(n):
    try:
        return down(n + 1)
    except RecursionError:
        return n


print("frames above", len(traceback.extract_stack()))
print("calls left", down(0))
sys.setrecursionlimit(200)
print("calls left", down(0))
