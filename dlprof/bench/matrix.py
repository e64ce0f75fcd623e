"""The matrix of a benchmark: a TOML file that says what is run on which backends, and how often."""

from __future__ import annotations

import hashlib
import json
import random
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from dlprof.backends import registry
from dlprof.bench.rank_axis import MOST, SCALINGS, RankAxis, Scaling, filled
from dlprof.errors import NoInputError, UsageError

_RANK_KEYS = ("ranks", "scaling", "threads")
_KEYS = ("name", "title", "repeat", "seed", "backends", "limit_s", "trace", "work", *_RANK_KEYS)
_WORK_KEYS = ("name", "script", "arguments", "backends", "sets", *_RANK_KEYS)
_TRACE_KEYS = ("probes", "kernels", "kernel_steps", "stacks_hz", "cores_hz", "budget")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,60}")
REPEAT_AT_MOST = 1000


@dataclass(frozen=True)
class Work:
    """A script with arguments; a row of the matrix with `sets` of arguments gives one for each.

    Attributes:
        name: Its name in the results.
        script: The script.
        arguments: Its arguments.
        backends: Names of the backends it is run on.
        axis: With how many ranks it is run; None: as one process, without a launcher.
    """

    name: str
    script: Path
    arguments: tuple[str, ...]
    backends: tuple[str, ...]
    axis: RankAxis | None = None


@dataclass(frozen=True)
class Cell:
    """One run of a benchmark.

    Attributes:
        work: What is run.
        backend: On which backend.
        number: Which of the repeats, from 1 on.
        ranks: With how many ranks; None: as one process, without a launcher.
    """

    work: Work
    backend: str
    number: int
    ranks: int | None = None

    @property
    def name(self) -> str:
        """Unique within the benchmark; a file name."""
        ranks = "" if self.ranks is None else f"-{self.ranks}-ranks"
        return f"{self.work.name}-{self.backend}{ranks}-{self.number:03d}"

    @property
    def arguments(self) -> tuple[str, ...]:
        """Arguments of the script in this run."""
        if self.ranks is None:
            return self.work.arguments
        return tuple(filled(text, self.ranks) for text in self.work.arguments)


@dataclass(frozen=True)
class Matrix:
    """All that is to be run.

    Attributes:
        name: Short name; a file name.
        title: One line for people.
        repeat: Runs of each pair of work and backend.
        seed: Of the order.
        limit_s: Seconds after which a run is ended; None: never.
        trace: Settings of `dlprof trace` for every run.
        work: What is run.
        digest: Of the content: another matrix has another one.
    """

    name: str
    title: str
    repeat: int
    seed: int
    limit_s: float | None
    trace: Mapping[str, Any]
    work: Sequence[Work]
    digest: str

    def cells(self) -> list[Cell]:
        """Every run, in the order of the seed: all pairs once, in random order, then all once more.

        So each backend meets the same drift of the machine.
        """
        order = random.Random(self.seed)  # noqa: S311  (an order, not a secret)
        order_of_runs = []
        for number in range(1, self.repeat + 1):
            once = [
                Cell(work, backend, number, ranks)
                for work in self.work
                for backend in work.backends
                for ranks in (work.axis.ranks if work.axis is not None else (None,))
            ]
            order.shuffle(once)
            order_of_runs += once
        return order_of_runs


def load(path: Path, *, backend: str | None = None) -> Matrix:
    """Read a matrix.

    Args:
        path: Its file.
        backend: What everything is run on, whatever it says; None: the backends that it names.

    Raises:
        NoInputError: There is no such file, or a script that it names.
        UsageError: It is not a matrix; the text says where.
    """
    try:
        text = path.read_text(encoding="utf-8")
        content = tomllib.loads(text)
    except FileNotFoundError as error:
        raise NoInputError(f"There is no matrix {path}.", hint="dlprof help bench tells how one is written") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    return _Reader(path, content, backend).matrix()


@dataclass(frozen=True)
class _Reader:
    path: Path
    content: Mapping[str, Any]
    backend: str | None = None

    def matrix(self) -> Matrix:
        self._known(self.content, _KEYS, "")
        name = self._name(self.content.get("name", self.path.stem), "name")
        rows = self._list(self.content, "work", "")
        if not rows:
            raise self._wrong("it has nothing to run: give at least one [[work]] with a script")
        default = self._backends(self.content, "")
        work = [item for row in rows for item in self._work(row, default)]
        for item in work:
            self._can_have_ranks(item)
        names = [item.name for item in work]
        doubled = sorted({name for name in names if names.count(name) > 1})
        if doubled:
            raise self._wrong(f"two [[work]] have the name {doubled[0]}")
        trace = self.content.get("trace", {})
        if not isinstance(trace, dict):
            raise self._wrong("trace must be a table")
        self._known(trace, _TRACE_KEYS, "[trace] ")
        limit = self.content.get("limit_s")
        if limit is not None and (not isinstance(limit, int | float) or isinstance(limit, bool) or limit <= 0):
            raise self._wrong("limit_s must be a number of seconds above 0")
        return Matrix(
            name=name,
            title=str(self.content.get("title", name)),
            repeat=self._whole("repeat", 3, 1, REPEAT_AT_MOST),
            seed=self._whole("seed", 1, 0, 2**63),
            limit_s=limit,
            trace=trace,
            work=work,
            digest=self._digest(work),
        )

    def _digest(self, work: Sequence[Work]) -> str:
        """Of what is run and how, not of how often: a benchmark may be taken further."""
        rows = [
            [item.name, item.script.name, item.arguments, item.backends, *((asdict(item.axis),) if item.axis else ())]
            for item in work
        ]
        content = {"trace": self.content.get("trace", {}), "seed": self.content.get("seed", 1), "work": rows}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def _wrong(self, text: str, hint: str | None = None) -> UsageError:
        return UsageError(f"{self.path}: {text}.", hint=hint)

    def _known(self, table: Mapping[str, Any], keys: Sequence[str], where: str) -> None:
        for key in table:
            if key not in keys:
                near = get_close_matches(key, keys, 1)
                hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(keys)}"
                raise self._wrong(f"{where}unknown key {key}", hint)

    def _whole(self, key: str, default: int, low: int, high: int) -> int:
        value = self.content.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self._wrong(f"{key} must be a whole number from {low} to {high}, not {value!r}")
        return value

    def _list(self, table: Mapping[str, Any], key: str, where: str) -> list[Any]:
        value = table.get(key, [])
        if not isinstance(value, list):
            raise self._wrong(f"{where}{key} must be a list")
        return value

    def _name(self, value: Any, where: str) -> str:
        if not isinstance(value, str) or not _NAME.fullmatch(value):
            raise self._wrong(f"{where} must be letters, digits, dots and dashes, not {value!r}")
        return value

    def _backends(self, table: Mapping[str, Any], where: str) -> tuple[str, ...]:
        names = self._list(table, "backends", where)
        for name in names:
            if not isinstance(name, str):
                raise self._wrong(f"{where}backends must be names, not {name!r}")
            try:
                registry.get(name)
            except UsageError as error:
                raise self._wrong(f"{where}{error.message.rstrip('.')}", error.hint) from error
        if len(set(names)) != len(names):
            raise self._wrong(f"{where}backends names one twice")
        return tuple(names)

    def _work(self, row: Any, default: tuple[str, ...]) -> list[Work]:
        if not isinstance(row, dict):
            raise self._wrong("each work must be a table: [[work]]")
        self._known(row, _WORK_KEYS, "[[work]] ")
        if not isinstance(row.get("script"), str):
            raise self._wrong("[[work]] has no script")
        script = (self.path.parent / row["script"]).resolve()
        if not script.is_file():
            raise NoInputError(f"{self.path}: there is no script {row['script']}.", hint="paths count from the matrix")
        where = f"[[work]] {script.name}: "
        name = self._name(row.get("name", script.stem), f"{where}name")
        backends = (self.backend,) if self.backend else self._backends(row, where) or default
        if not backends:
            hint = 'backends = ["mxnet"], say; dlprof history takes --python PATH in their place'
            raise self._wrong(f"{where}no backends, neither here nor at the top", hint)
        arguments = self._texts(row, "arguments", where)
        sets = row.get("sets", {})
        if not isinstance(sets, dict):
            raise self._wrong(f"{where}sets must be a table of lists of arguments")
        axis = self._axis(row, where)
        if not sets:
            return [Work(name, script, arguments, backends, axis)]
        return [
            Work(
                f"{name}-{self._name(kind, where + 'set')}",
                script,
                arguments + self._texts(sets, kind, where),
                backends,
                axis,
            )
            for kind in sets
        ]

    def _axis(self, row: Mapping[str, Any], where: str) -> RankAxis | None:
        """How many ranks a work is run with: its own keys, and those at the top."""
        given = {key: row.get(key, self.content.get(key)) for key in _RANK_KEYS}
        ranks, scaling, threads = given["ranks"], given["scaling"], given["threads"]
        if ranks is None:
            if scaling is not None or threads is not None:
                raise self._wrong(f"{where}scaling and threads are of ranks, and there is no ranks = [1, 2]")
            return None
        if not isinstance(ranks, list) or not ranks or not all(_is_number(one, MOST) for one in ranks):
            raise self._wrong(f"{where}ranks must be a list of whole numbers from 1 to {MOST}, not {ranks!r}")
        if len(set(ranks)) != len(ranks):
            raise self._wrong(f"{where}ranks names a number twice")
        scaling, threads = scaling or "strong", 1 if threads is None else threads
        if scaling not in SCALINGS:
            raise self._wrong(f"{where}scaling must be one of {', '.join(SCALINGS)}, not {scaling!r}")
        if not _is_number(threads, MOST):
            raise self._wrong(f"{where}threads must be a whole number from 1 to {MOST}, not {threads!r}")
        return RankAxis(tuple(sorted(ranks)), cast("Scaling", scaling), threads)

    def _can_have_ranks(self, work: Work) -> None:
        """Refuse what could not be started with its ranks, before anything runs."""
        if work.axis is None:
            return
        for backend in work.backends:
            if self.backend is None and registry.get(backend).engine != "torch":
                raise self._wrong(f"{work.name}: ranks are started by torchrun, and {backend} has no PyTorch")
        for ranks in work.axis.ranks:
            for text in work.arguments:
                try:
                    filled(text, ranks)
                except UsageError as error:
                    raise self._wrong(f"{work.name}: {error.message.rstrip('.')}") from error

    def _texts(self, table: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
        values = self._list(table, key, where)
        for value in values:
            if not isinstance(value, str | int | float) or isinstance(value, bool):
                raise self._wrong(f"{where}{key} must be texts or numbers, not {value!r}")
        return tuple(str(value) for value in values)


def _is_number(value: Any, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most
