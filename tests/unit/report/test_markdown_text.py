"""Words from outside in Markdown."""

from __future__ import annotations

from dlprof.report import markdown_text


def test_words_from_outside_are_no_markdown() -> None:
    """Nor HTML, nor a table's cell."""
    assert markdown_text.plain("*a* <b>|`c`") == "\\*a\\* &lt;b&gt;&#124;\\`c\\`"
