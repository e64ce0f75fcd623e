"""Which files are the user's own code."""

from __future__ import annotations

import os

import pytest
from dlprof_probes.inproc import user_files


@pytest.mark.parametrize(
    ("path", "is_users"),
    [
        ("/home/me/train.py", True),
        ("<ipython-input-3-abc>", True),
        ("<string>", False),
        ("", False),
        ("/venv/lib/python3.11/site-packages/keras/layers.py", False),
        ("/usr/lib/python3/dist-packages/numpy.py", False),
        (os.__file__, False),
        (user_files.__file__, False),
        ("numpy/random/_common.pyx", False),
    ],
)
def test_which_files_are_the_user_s_own(path: str, is_users: bool) -> None:
    """Not Python's, not an installed package's, not ours; cells of notebooks are."""
    files = user_files.UserFiles()

    assert [files(path), files(path)] == [is_users, is_users]
