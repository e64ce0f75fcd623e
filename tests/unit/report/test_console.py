"""What all reports on a terminal share."""

from __future__ import annotations

import io

import pytest
from rich.text import Text

from dlprof.report.console import Page, is_ascii, make_console, make_page


class Terminal(io.StringIO):
    """A terminal of one encoding."""

    def __init__(self, encoding: str | None) -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str | None:  # type: ignore[override]
        """Of what is written."""
        return self._encoding

    def isatty(self) -> bool:
        """It is one."""
        return True


def page(width: int = 100) -> tuple[io.StringIO, Page]:
    """A page of some width, and what it prints to."""
    out = io.StringIO()
    console = make_console(out)
    console.width = width
    console.whole = console.ascii = False
    return out, Page(console, ascii_only=False)


@pytest.mark.parametrize(
    ("encoding", "plain", "expected"),
    [
        ("utf-8", False, False),
        ("UTF8", False, False),
        ("utf-8", True, True),
        ("latin-1", False, True),
        (None, False, True),
    ],
)
def test_only_streams_of_utf_8_get_more_than_ascii(encoding: str | None, plain: bool, expected: bool) -> None:
    """And not when plain text is asked for."""
    assert is_ascii(Terminal(encoding), plain) is expected


def test_a_stream_of_ascii_never_fails() -> None:
    """What it cannot show is replaced."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", write_through=True)
    make_console(stream).print("← é µs")

    assert raw.getvalue() == b"< ? us\n"


def test_a_console_is_a_hundred_columns_wide_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or as wide as COLUMNS says, but no narrower than 60."""
    monkeypatch.delenv("COLUMNS", raising=False)
    assert make_console(io.StringIO()).width == 100
    monkeypatch.setenv("COLUMNS", "140")
    assert make_console(io.StringIO()).width == 140
    monkeypatch.setenv("COLUMNS", "20")
    assert make_console(io.StringIO()).width == 60


def test_a_file_gets_no_colour() -> None:
    """Only a terminal does, unless plain text is asked for."""
    assert make_console(io.StringIO()).no_color
    assert not make_console(Terminal("utf-8")).no_color
    assert make_console(Terminal("utf-8"), plain=True).no_color


@pytest.mark.parametrize(("plain", "sign"), [(False, "−"), (True, "-")])
def test_the_sign_of_differences_is_one_that_can_be_printed(plain: bool, sign: str) -> None:
    """A minus sign, or a hyphen in plain text."""
    assert make_page(Terminal("utf-8"), plain=plain).minus == sign


def test_what_is_said_is_no_markup() -> None:
    """Brackets and names of emoji are text."""
    out, shown = page()
    shown.say("[red]x[/red] :smile:", indent=2)

    assert out.getvalue().rstrip() == "  [red]x[/red] :smile:"


def test_a_title_follows_an_empty_line() -> None:
    """With a note behind it, if there is one."""
    out, shown = page()
    shown.title("Phases", "of the wall time")
    shown.title("GPU")

    assert out.getvalue() == "\nPhases  of the wall time\n\nGPU\n"


def test_a_table_cuts_its_last_column_only() -> None:
    """The others keep their width."""
    out, shown = page(width=60)
    table = shown.table(("name", "left"), ("time", "right"), ("source", "left"))
    table.add_row("a rather long name", "1.00 s", "x = " + "y" * 100)
    shown.show(table)

    row = out.getvalue().splitlines()[1]
    assert row.startswith("  a rather long name  1.00 s  x = y")
    assert row.rstrip().endswith("…")
    assert len(row) <= 60


def test_a_line_is_cut_where_it_is_too_long() -> None:
    """And says so; nothing is filled up to the edge."""
    out, some = page(8)
    for text in ("short", "rather long"):
        some.line(Text(text))

    assert out.getvalue() == "short\nrather…\n"


def test_a_plain_line_is_cut_in_ascii() -> None:
    """Three dots."""
    assert Page(page(8)[1].console, ascii_only=True).cut(Text("rather long"), 8).plain == "rathe..."


def test_a_text_is_wrapped_beside_what_stands_before_it() -> None:
    """The other lines are indented as far."""
    lines = page(13)[1].wrapped(Text("one two three four"), "It   ")

    assert [line.plain for line in lines] == ["It   one two", "     three", "     four"]


def test_a_number_stays_with_its_unit() -> None:
    """A line ends before both."""
    lines = page(13)[1].wrapped(Text("it took 12.5 s of all"))

    assert [line.plain for line in lines] == ["it took", "12.5 s of all"]


def test_a_text_that_takes_too_many_lines_is_cut_in_the_last() -> None:
    """Where there is more, it says so."""
    lines = page(13)[1].wrapped(Text("one two three four"), "It   ", most=2)

    assert [line.plain for line in lines] == ["It   one two", "     three f…"]


@pytest.mark.parametrize("plain", [False, True])
def test_no_line_ends_with_blanks(plain: bool) -> None:
    """Neither of sentences nor of tables."""
    out = io.StringIO()
    shown = make_page(out, plain=plain)
    shown.say("a sentence", "bold", indent=2)
    table = shown.table(("name", "left"), ("", "left"))
    table.add_row("x", "a note")
    table.add_row("longer", "")
    shown.show(table)

    assert out.getvalue() == "  a sentence\n  name\n  x       a note\n  longer\n"


def test_a_table_is_whole_where_no_terminal_is_too_narrow() -> None:
    """Such as a pipe; sentences are folded all the same."""
    out = io.StringIO()
    shown = make_page(out)
    table = shown.table(("name", "left"), ("source", "left"))
    table.add_row("n" * 90, "x" * 90)
    shown.show(table)
    shown.say("word " * 30)

    assert [len(line) for line in out.getvalue().splitlines()] == [2 + 92 + 6, 2 + 92 + 90, 99, 49]


def test_a_width_that_is_given_holds_for_a_pipe_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """By COLUMNS."""
    monkeypatch.setenv("COLUMNS", "70")
    out = io.StringIO()
    shown = make_page(out)
    table = shown.table(("name", "left"), ("source", "left"))
    table.add_row("n", "x" * 90)
    shown.show(table)

    assert max(len(line) for line in out.getvalue().splitlines()) <= 70


@pytest.mark.parametrize(
    ("environment", "escapes"),
    [({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False), ({"TERM": "xterm", "NO_COLOR": "1"}, False)],
)
def test_a_terminal_gets_styles_unless_it_wants_none(
    environment: dict[str, str], escapes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then not even bold ones."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    out = Terminal("utf-8")
    make_page(out).say("red", "bold red")

    assert ("\x1b[" in out.getvalue()) is escapes


def test_colour_can_be_asked_for_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where TERM is dumb."""
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("FORCE_COLOR", "1")
    out = io.StringIO()
    make_page(out).say("red", "red")

    assert out.getvalue() == "\x1b[31mred\x1b[0m\n"


def test_plain_text_is_ascii() -> None:
    """Signs of our own are replaced: a sign for micro, a minus, dots."""
    out = Terminal("utf-8")
    make_page(out, plain=True).say("12 µs − 3 …")

    assert out.getvalue() == "12 us - 3 .\n"
