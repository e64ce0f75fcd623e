"""From raw artifacts to tables: `own` artifacts, `formats` of traces and their parsers, `kernels`, `attribution`."""
