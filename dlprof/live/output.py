"""The last lines of what a script printed, as a terminal would show them.

Carriage returns, backspaces, tabs and the moves of the cursor that progress bars make are followed; colours and
all else are passed over. Whole runs of text are put at once: a script may print a lot.
"""

from __future__ import annotations

import codecs
import os
import re

_LOOK_BYTES = 16 << 10
"""Followed in one look: of a script that prints more, what lies before is passed over."""
_LINES = 200
_COLUMNS = 4096
_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f]+)"
    r"|\x1b\[(?P<args>[0-?]*)[ -/]*(?P<move>[@-~])"
    r"|\x1b[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles of windows and the like
    r"|\x1b[ -/]*[0-OQ-WYZ\\`-~]"
    r"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f])"
    r"|(?P<cut>\x1b.*)",  # an escape sequence whose end has not come yet
    re.DOTALL,
)
_CUT_AT_MOST = 256
_ROWS_OF_MOVES = 100
"""Larger moves are taken for a mistake."""


class LastLines:
    """What stands on the last lines; `feed` it with all that is printed."""

    def __init__(self) -> None:
        self._lines = [""]
        self._row = self._column = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._cut = ""

    def feed(self, data: bytes) -> None:
        """More was printed."""
        text, self._cut = self._cut + self._decoder.decode(data), ""
        at = 0
        while match := _TOKEN.match(text, at):
            at = match.end()
            if match["text"] is not None:
                self._put(match["text"])
            elif match["control"] is not None:
                self._control(match["control"])
            elif match["move"] is not None:
                self._move(match["move"], match["args"])
            elif match["cut"] is not None and len(match["cut"]) <= _CUT_AT_MOST:
                self._cut = match["cut"]
            elif match["cut"] is not None:  # no sequence at all
                at = match.start() + 1
        if len(self._lines) > 2 * _LINES:
            gone = len(self._lines) - _LINES
            del self._lines[:gone]
            self._row = max(0, self._row - gone)

    def last(self, rows: int) -> list[str]:
        """At most `rows` lines, up to the last that is not empty; control characters are still to be taken out."""
        end = len(self._lines)
        while end > 1 and not self._lines[end - 1].strip():
            end -= 1
        return [line.rstrip() for line in self._lines[max(0, end - rows) : end]]

    def _put(self, text: str) -> None:
        text = text[: max(0, _COLUMNS - self._column)]
        line = self._lines[self._row]
        if len(line) < self._column:
            line = line.ljust(self._column)
        end = self._column + len(text)
        self._lines[self._row] = line[: self._column] + text + line[end:]
        self._column = end

    def _control(self, code: str) -> None:
        if code == "\n":  # the terminal goes to the line's beginning too
            self._to(self._row + 1, 0)
        elif code == "\r":
            self._column = 0
        elif code == "\b":
            self._column = max(0, self._column - 1)
        elif code == "\t":
            self._column = min(_COLUMNS, (self._column // 8 + 1) * 8)

    def _move(self, move: str, args: str) -> None:
        first = args.split(";", maxsplit=1)[0]
        count = int(first) if first.isascii() and first.isdigit() and len(first) < 5 else 0
        steps = max(1, count)
        if move in "AF" and steps <= _ROWS_OF_MOVES:
            self._to(max(0, self._row - steps), self._column if move == "A" else 0)
        elif move in "BE" and steps <= _ROWS_OF_MOVES:
            self._to(self._row + steps, self._column if move == "B" else 0)
        elif move == "C":
            self._column = min(_COLUMNS, self._column + steps)
        elif move == "D":
            self._column = max(0, self._column - steps)
        elif move == "G":
            self._column = min(_COLUMNS, steps - 1)
        elif move in "KJ":
            self._erase(move, count)

    def _erase(self, move: str, count: int) -> None:
        if move == "J" and count >= 2:
            self._lines, self._row, self._column = [""], 0, 0
            return
        line = self._lines[self._row]
        left, right = line[: self._column], line[self._column :]
        right = " " + right[1:] if count == 1 else ""  # up to the cursor means: with what is under it
        if count:
            left = " " * len(left)
        self._lines[self._row] = left + right
        if move == "J" and not count:
            del self._lines[self._row + 1 :]

    def _to(self, row: int, column: int) -> None:
        while len(self._lines) <= row:
            self._lines.append("")
        self._row, self._column = row, column


class Output:
    """Follows the spool file that takes all that the script prints.

    Args:
        descriptor: Of the file, open for reading.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._offset = 0
        self.lines = LastLines()

    def look(self) -> None:
        """Take in what is new, or the last of it where that is much."""
        size = os.fstat(self._descriptor).st_size
        skipped = size - self._offset > _LOOK_BYTES
        if skipped:
            self._offset, self.lines = size - _LOOK_BYTES, LastLines()
        data = os.pread(self._descriptor, size - self._offset, self._offset)
        self._offset += len(data)
        # The first line is only half there: it may even begin within a character.
        self.lines.feed(data.partition(b"\n")[2] if skipped and b"\n" in data else data)
