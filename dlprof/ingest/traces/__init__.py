"""Traces of kernels and operators, our own and foreign ones: one reader per format, one form for all.

A reader turns a file into a `Trace` (base.py); `nesting.py` and `linking.py` find out what runs inside what
and which call launched which kernel; `attribution/` names layer, direction, operator and category; and
`assemble.py` makes the tables. `formats.py` lists the readers and tells which one a file is for.
"""
