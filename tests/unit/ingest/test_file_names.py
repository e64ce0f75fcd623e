"""How files are named in the tables."""

from __future__ import annotations

import pytest

from dlprof.ingest.file_names import FileNames


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/s/train.py", True),
        ("/elsewhere/helpers/data.py", True),
        ("/tmp/ipykernel_7/1.py", True),
        ("/venv/lib/python3.11/site-packages/keras/src/models/model.py", False),
        ("/usr/lib/python3/dist-packages/numpy/core.py", False),
        ("/home/me/.local/share/dlprof/tools/memray-cp311-linux-x86_64-078d8fc3755d/rich/console.py", False),
        ("/home/me/tools/cp311-data/load.py", True),
        ("/usr/lib/python3.11/threading.py", False),
        ("<string>", False),
    ],
)
def test_users_files_are_those_that_nobody_installed(path: str, expected: bool) -> None:
    """Wherever they lie; cells of a notebook are the user's, too."""
    names = FileNames("/s", {"/tmp/ipykernel_7/1.py": "In [1]"})

    assert names.is_users(names.short(path)) is expected


def test_a_name_that_is_no_utf_8_is_one_that_tables_take() -> None:
    """As the stream has it; the file itself is still known by its own."""
    names = FileNames("/s")

    assert names.short("/s/n\udcff.py") == "n?.py"
    assert names.originals == {"n?.py": "/s/n\udcff.py"}
