"""Probes of dlprof: what runs inside (`inproc`) and beside (`sidecar`) the traced process."""
