"""What a caller in Python is told to try."""

from __future__ import annotations

from pathlib import Path

import pytest

import dlprof
from dlprof.errors import CannotCreateError, NoInputError, UsageError
from dlprof.notebook.python_words import hint, in_python
from dlprof.notebook.views import RunView


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("dlprof runs", "dlprof.runs()"),
        ("dlprof runs 'my runs'", "dlprof.runs('my runs')"),
        ("name one of them: dlprof report /a/b", "name one of them: dlprof.open('/a/b')"),
        ("--force replaces it; -o FILE chooses another name", "force=True replaces it; path= chooses another name"),
        ("choose another with -o DIR, or remove it", "choose another with path=, or remove it"),
        ("choose another place with -o", "choose another place with path="),
        ("dlprof report last --rebuild", "in a shell: dlprof report last --rebuild"),
        ("in a shell: dlprof demo", "in a shell: dlprof demo"),
        ("pip install -U dlprof", "in a shell: pip install -U dlprof"),
        ("ns, us, ms, s", "ns, us, ms, s"),
    ],
)
def test_commands_and_flags_are_calls_and_arguments(text: str, told: str) -> None:
    """All else is for a shell, and said to be."""
    assert hint(text) == told


def test_an_error_is_told_once_with_what_to_try_in_python() -> None:
    """In its traceback, too."""
    with pytest.raises(NoInputError) as raised, in_python(), in_python():
        raise NoInputError("There is none.", hint="dlprof runs")

    assert (raised.value.hint, raised.value.__notes__) == ("dlprof.runs()", ["try: dlprof.runs()"])


def test_functions_and_methods_tell_what_to_try_in_python(
    trained: RunView, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not commands of a shell."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoInputError) as of_open:
        dlprof.open("nowhere")
    with pytest.raises(UsageError) as of_sql:
        trained.sql("SELECT * FROM nothing")
    (tmp_path / "there").write_text("")
    with pytest.raises(CannotCreateError) as of_export:
        trained.export("chrome", tmp_path / "there")

    assert of_open.value.hint == "dlprof.runs()"
    assert of_sql.value.hint == "sql('SHOW TABLES') lists the tables, sql('DESCRIBE steps') the columns of one"
    assert of_export.value.hint == "force=True replaces it; path= chooses another name"
