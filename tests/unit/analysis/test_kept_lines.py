"""Lines that keep something each time they run."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import kept_lines
from dlprof.analysis.kept_lines import KeptLine
from tests.unit.runs import S, trained


def of(
    path: Path,
    script: str,
    hits: dict[int, int | None],
    *,
    unseen: Collection[int] = (),
    in_workers: bool = False,
    **tables: Any,
) -> tuple[KeptLine, ...]:
    """Of a run of 500 steps whose other lines ran once, but for those that were not seen to run."""
    lines = [
        {"file": "train.py", "function": "f", "first_line": 1, "line": number, "hits": hits.get(number, 1), "time_ns": S,
         "source": text}
        for number, text in enumerate(script.splitlines(), 1)
        if number not in unseen
    ]  # fmt: skip
    run = trained(path / "r", lines=lines, **tables)
    kept = run.folder.source_path("train.py")
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(script)
    return kept_lines.of_run(run, 500, in_workers=in_workers)


LEAKS = {
    "a list": ("kept.append(loss)", "adds to `kept`"),
    "a dictionary": ("cache[step] = loss", "fills `cache`"),
    "an attribute": ("self.seen.append(loss)", "adds to `self.seen`"),
    "a sum with its graphs": ("total += loss", "adds to `total`"),
    "an array that grows": ("log = np.concatenate([log, loss])", "makes `log` longer"),
    "a hook": ("layer.register_forward_hook(note)", "registers one more hook"),
    "a compiled function": ("run = jax.jit(lambda x: x + step)", "makes `run` anew"),
    "a cycle": ("node.itself = node", "makes `node` hold itself"),
    "a queue": ("queue.put(loss)", "adds to `queue`"),
    "a list that is made anew": ("kept = kept + [loss]", "adds to `kept`"),
    "a function for the end": ("atexit.register(lambda: loss)", "gives one more function to `atexit.register`"),
    "a handler of a signal": ("signal.signal(10, lambda *_: loss)", "gives one more function to `signal.signal`"),
}


@pytest.mark.parametrize("name", LEAKS)
def test_a_line_that_keeps_something_each_step(tmp_path: Path, name: str) -> None:
    """With how often it ran."""
    line, what = LEAKS[name]
    script = f"kept = []\nfor step in range(500):\n    loss = train()\n    {line}\n"

    (found,) = of(tmp_path, script, {2: 501, 3: 500, 4: 500})

    assert found == KeptLine("train.py", 4, line, 500, what, is_in_loop=True)


def test_hits_of_windows_are_an_estimate(tmp_path: Path) -> None:
    """So that they are not told to the last digit."""
    script = "kept = []\nfor step in range(500):\n    kept.append(train())\n"
    rows = [{"file": "train.py", "function": "<module>", "first_line": 1, "line": 3, "hits": 800, "time_ns": 1,
             "source": "", "how": "scaled"}]  # fmt: skip
    run = trained(tmp_path / "r", lines=rows)
    kept = run.folder.source_path("train.py")
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(script)

    (found,) = kept_lines.of_run(run, 500)

    assert (found.hits, found.is_scaled) == (800, True)


@pytest.mark.parametrize(
    ("decorator", "lines"),
    [
        ("functools.lru_cache(maxsize=None)", [2]), ("lru_cache(None)", [2]), ("cache", [2]), ("functools.cache", [2]),
        ("lru_cache", []), ("lru_cache(maxsize=64)", []), ("property", []),
    ],
)  # fmt: skip
def test_a_cache_without_a_limit_keeps_each_result(tmp_path: Path, decorator: str, lines: list[int]) -> None:
    """As often as its function ran; `lru_cache` alone keeps 128."""
    found = of(tmp_path, f"@{decorator}\ndef features(i):\n return read(i)\n", {3: 300})

    assert [one.line for one in found] == lines
    assert all(one.what == "keeps each result of `features`, in a cache without a limit" for one in found)
    assert all(one.hits == 300 for one in found)


def test_of_workers_only_files_are_looked_at_that_were_seen_there(tmp_path: Path) -> None:
    """What the script itself keeps is not what they keep."""
    script = "@cache\ndef features(i):\n return read(i)\n"
    other = "for x in y:\n kept.append(f(x))\n"
    row = {"function": "f", "first_line": 1, "time_ns": S, "source": "", "hits": None}
    rows = [
        {**row, "pid": 42, "file": "own.py", "line": 2, "hits": 500},
        {**row, "pid": 43, "file": "train.py", "line": 3},
    ]
    run = trained(tmp_path / "r", lines=rows)
    for name, text in (("train.py", script), ("own.py", other)):
        kept = run.folder.source_path(name)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(text)

    assert [(one.file, one.line) for one in kept_lines.of_run(run, 500, in_workers=True)] == [("train.py", 2)]
    assert [one.file for one in kept_lines.of_run(run, 500)] == ["own.py", "train.py"]


CLEAN = {
    "a list that is emptied": "    kept.append(loss)\n    kept.clear()\n",
    "a list of one epoch": "    kept = []\n    kept.append(loss)\n",
    "a queue that is taken from": "    queue.put(loss)\n    queue.get()\n",
    "a number": "    total += 1\n",
    "a sum of numbers": "    total += float(loss)\n",
    "a value": "    loss = train()\n",
}


@pytest.mark.parametrize("name", CLEAN)
def test_what_keeps_nothing_is_not_told(tmp_path: Path, name: str) -> None:
    """Whatever it looks like."""
    script = f"for step in range(500):\n{CLEAN[name]}"

    assert of(tmp_path, script, {1: 501, 2: 500, 3: 500}) == ()


def test_lines_that_ran_about_once_a_step_come_first(tmp_path: Path) -> None:
    """Then those that were not counted, then those of each epoch; what ran a few times is none."""
    script = "for x in y:\n a.append(1)\n b.append(1)\n c.append(1)\n d.append(1)\n"

    assert [one.line for one in of(tmp_path, script, {2: 10, 3: None, 4: 500, 5: 3})] == [4, 3, 2]


def test_what_keeps_numbers_comes_behind_what_may_keep_anything(tmp_path: Path) -> None:
    """Both ran once an epoch; 30 records of two numbers are no 300 MB."""
    script = (
        "class Rows:\n def row(self, e, l):\n  self.rows.append({'epoch': e, 'loss': l})\n"
        "class Kept:\n def store(self, e, p):\n  self.kept[e] = p\n"
        "for e in range(30):\n rows.row(e, loss.item())\n kept.store(e, net(x))\n"
    )

    found = of(tmp_path, script, {3: 30, 6: 30, 8: 30, 9: 30})

    assert [(one.line, one.is_small, one.can_keep(300_000_000, 500)) for one in found] == [
        (6, False, True), (3, True, False),
    ]  # fmt: skip
    assert kept_lines.likeliest(found) == found[0]


def test_of_lines_that_are_as_likely_none_is_the_likeliest(tmp_path: Path) -> None:
    """Each of both may keep anything, once a step."""
    script = "for x in y:\n a.append(f(x))\n b[x] = g(x)\n"

    found = of(tmp_path, script, {2: 500, 3: 500})

    assert len(found) == 2
    assert kept_lines.likeliest(found) is None
    assert kept_lines.likeliest([]) is None


QUEUE = (
    "q = queue.Queue({limit})\ndef fill():\n while True:\n  q.put(make())\nfor step in range(500):\n train(q.get())\n"
)


@pytest.mark.parametrize(
    ("limit", "put", "taken", "lines"),
    [("", 4000, 500, [4]), ("", None, 500, [4]), ("", 503, 500, []), ("8", 4000, 500, []), ("8", None, 500, [])],
)
def test_a_queue_without_a_limit_keeps_what_is_not_taken_from_it(
    tmp_path: Path, limit: str, put: int | None, taken: int, lines: list[int]
) -> None:
    """By how often both ran, where that was counted."""
    found = of(tmp_path, QUEUE.replace("{limit}", limit), {4: put, 6: taken})

    assert [one.line for one in found] == lines
    assert all(one.what == "adds to `q`, a queue without a limit" and one.is_queue for one in found)


def test_of_a_process_that_was_killed_statements_beside_one_that_was_sampled_have_run(tmp_path: Path) -> None:
    """Its lines were not counted; what stands under a condition may not have run."""
    script = "for x in data:\n train(x)\n kept.append(x)\n if odd:\n  more.append(x)\nfor y in z:\n last.append(y)\n"

    (found,) = of(tmp_path / "killed", script, {2: None}, unseen={1, 3, 4, 5, 6, 7})

    assert (found.line, found.hits) == (3, None)
    assert of(tmp_path / "counted", script, {1: 10, 2: None}, unseen={3, 4, 5, 6, 7}) == ()


def test_lines_of_a_function_on_another_thread_have_run(tmp_path: Path) -> None:
    """They are not counted there, and one that takes microseconds is not sampled: another one of it was."""
    stack = {"thread_id": 2, "thread": "Thread-1 (fill)", "start_ns": 2 * S, "dur_ns": S, "stack_id": 1}
    frames = [{"stack_id": 1, "depth": 0, "function": "fill", "file": "train.py", "line": 3}]
    hits: dict[int, int | None] = {2: 1, 6: 500}

    (found,) = of(tmp_path / "seen", QUEUE.replace("{limit}", ""), hits, unseen={3, 4}, stacks=[stack], frames=frames)

    assert (found.line, found.hits, found.is_beside) == (4, None, True)
    assert of(tmp_path / "not", QUEUE.replace("{limit}", ""), hits, unseen={3, 4}) == ()


def test_of_lines_that_were_not_counted_those_in_a_loop_come_first(tmp_path: Path) -> None:
    """What a function makes at its beginning may be made once."""
    script = "def f():\n net = Sequential()\n for step in range(500):\n  total += loss\n"

    found = of(tmp_path, script, {2: None, 3: None, 4: None})

    assert [(one.line, one.is_in_loop) for one in found] == [(4, True), (2, False)]


def test_a_handler_that_holds_records_holds_their_arguments(tmp_path: Path) -> None:
    """Not the text, which is made when they are written."""
    made = "log.addHandler(logging.handlers.MemoryHandler(10 ** 9))"
    script = f"{made}\nfor step in range(500):\n    loss = train()\n    log.info('%s', loss)\n"

    (found,) = of(tmp_path, script, {2: 501, 3: 500, 4: 500})

    assert (found.line, found.what) == (4, "gives its arguments to a handler of the log that holds them")


def test_methods_that_workers_run_are_not_counted_by_anybody(tmp_path: Path) -> None:
    """A list that a call makes itself is gone when it is over."""
    script = (
        "class Rows:\n    def __getitem__(self, n):\n        parts = []\n        parts.append(read(n))\n"
        "        self.seen[n] = parts\n        return parts\n"
    )

    (found,) = of(tmp_path / "below", script, {}, unseen=range(3, 7), in_workers=True)

    assert of(tmp_path / "own", script, {}, unseen=range(3, 7)) == ()
    assert (found.line, found.what, found.hits) == (5, "fills `self.seen`", None)


def test_a_line_that_did_not_run_keeps_nothing(tmp_path: Path) -> None:
    """A method of a callback may have: a library runs it, and its lines are not counted before Python 3.12."""
    script = "def keep(a):\n kept.append(a)\ndef on_batch_end(self, logs):\n self.seen.append(logs)\n"

    assert [(one.line, one.hits) for one in of(tmp_path, script, {}, unseen={2, 4})] == [(4, None)]


def test_a_file_that_is_no_python_tells_nothing(tmp_path: Path) -> None:
    """A notebook's cell may hold magics."""
    assert of(tmp_path, "%time x = 1\n", {}) == ()
