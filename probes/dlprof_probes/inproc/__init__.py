"""The probe inside the traced process: standard library only, Python 3.6 syntax.

It is copied into the run folder and started from there; nothing is installed into the user's
environment. Each part may fail on its own: it is then switched off and noted in the stream, and
the traced program goes on as if it were not there.
"""
