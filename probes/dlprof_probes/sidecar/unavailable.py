"""What a probe raises that has nothing to look at here."""

from __future__ import annotations


class Unavailable(Exception):  # noqa: N818  (it is no error)
    """There is nothing to be sampled; the message says why."""
