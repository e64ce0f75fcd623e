"""Backends: one frozen spec each, never an import of the framework. Plug-in seam: `dlprof.backends`."""
