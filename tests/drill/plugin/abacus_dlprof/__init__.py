"""Teaches dlprof the engine Abacus: specs of engine and backend, its half in the process, a format, and a rule."""
