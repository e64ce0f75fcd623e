"""Names and folders are taken out of texts."""

from __future__ import annotations

import pytest

from dlprof.redaction import Redactor, users_in


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("/home/ada/secret-project/train.py", "…/train.py"),
        ("~/models/net.py", "…/net.py"),
        ("File '/srv/data/x.npz' is gone", "File '…/x.npz' is gone"),
        ("a (/opt/venv/bin/python -m x) b", "a (…/python -m x) b"),
        ("C:\\Users\\ada\\train.py", "…\\train.py"),
        ("keras/src/models/model.py", "keras/src/models/model.py"),
        ("<python>/threading.py", "<python>/threading.py"),
        ("1/2 of all", "1/2 of all"),
    ],
)
def test_folders_are_taken_out_of_absolute_paths(told: str, expected: str) -> None:
    """The file's name stays, and so do names that are the same on every machine."""
    assert Redactor().text(told) == expected


def test_the_names_of_users_are_those_of_their_homes() -> None:
    """Names that many machines have are none."""
    texts = ["/home/ada/x.py", "see /Users/grace/y", "/home/user/z", "ada lives elsewhere", "/srv/home/x"]

    assert users_in(texts) == frozenset({"ada", "grace"})


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("ada@box7: python", "user@host: python"),
        ("box7.example.org", "host.example.org"),
        ("adagrad on box70", "adagrad on box70"),
        ("BOX7", "host"),
    ],
)
def test_a_name_is_taken_out_as_a_whole_word(told: str, expected: str) -> None:
    """A word that only begins with it stays."""
    assert Redactor.of(["box7"], ["ada"], paths=True).name(told) == expected


def test_several_machines_stay_apart() -> None:
    """They are numbered."""
    redactor = Redactor.of(["node-a", "node-b"], [], paths=True)

    assert [redactor.name(name) for name in ("node-a", "node-b")] == ["host-1", "host-2"]


def test_a_short_name_is_replaced_where_it_is_all_of_the_text() -> None:
    """In other texts two letters may be anything."""
    redactor = Redactor.of(["vm"], [], paths=True)

    assert [redactor.name(text) for text in ("vm", "lightgbm vm2 vm-x")] == ["host", "lightgbm vm2 vm-x"]


def test_a_name_that_is_left_is_found() -> None:
    """Before the copy is handed out."""
    assert Redactor.of(["box7"], [], paths=True).left_in("on box7 again") == ["box7"]
