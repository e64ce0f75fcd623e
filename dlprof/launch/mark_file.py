"""The file into which a program that is no Python script states its phases (`DLPROF_MARK`).

The program appends lines; a thread of dlprof notes when each of them arrived. A plain file and not a pipe, because a
pipe whose reader has died kills who writes to it.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path

from dlprof.launch.file_changes import FileChanges

BYTES_AT_MOST = 64 << 20


class MarkFile:
    """Makes the file, and follows it until `stop`.

    Args:
        raw: Folder of raw artifacts: `marks.txt` is the program's, `marks.jsonl` has the lines with their times.
    """

    def __init__(self, raw: Path) -> None:
        self.path = raw / "marks.txt"
        self.path.touch()
        self._out = (raw / "marks.jsonl").open("w", encoding="utf-8")
        self._over = threading.Event()
        self._changes = FileChanges(self.path)
        self._thread = threading.Thread(target=self._follow, name="dlprof marks", daemon=True)
        # A new thread has the mask of its maker. Signals are the main thread's, which waits for them.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        self._thread.start()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def stop(self) -> None:
        """Take what has come up to now, and end."""
        self._over.set()
        self._changes.wake()
        self._thread.join(timeout=5)
        if not self._thread.is_alive():
            self._changes.close()

    def _follow(self) -> None:
        rest, taken = b"", 0
        with self.path.open("rb") as source, self._out as out:
            while True:
                last_look = self._over.is_set()
                size = os.fstat(source.fileno()).st_size
                if size > taken and taken < BYTES_AT_MOST:
                    now = time.perf_counter_ns()
                    new = source.read(min(size, BYTES_AT_MOST) - taken)
                    taken += len(new)
                    *lines, rest = (rest + new).split(b"\n")
                    for line in lines:
                        out.write(json.dumps([now, line.decode("utf-8", "replace")]) + "\n")
                    out.flush()
                if last_look:
                    if rest:
                        out.write(json.dumps([time.perf_counter_ns(), rest.decode("utf-8", "replace")]) + "\n")
                    return
                self._changes.wait()
