"""From the events of a trace to the tables of kernels.

`trace.py` is the form that every reader gives its events; `nesting.py` and `linking.py` find out what runs inside what
and which call launched which kernel; `segments.py` cuts large traces; `gaps.py` finds where GPUs were idle; and
`assemble.py` makes the tables, with the labels that `attribution` gives.
"""
