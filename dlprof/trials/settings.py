"""Settings that a trial takes in place of the script's own, as `dlprof try --set NAME=VALUE` names them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlprof.analysis.findings.finding import Remedy, thread_variables
from dlprof.analysis.training import Training
from dlprof.errors import UsageError, nearest

VARIABLE = "env:"
"""What a setting begins with that is an environment variable."""
CHANGES_AT_MOST = 12
_POLICIES = ("float32", "float64", "float16", "bfloat16", "mixed_float16", "mixed_bfloat16")
_PURE = ("float32", "float64")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Kind:
    """A setting that dlprof can give to Keras, to an engine or to a loader.

    Attributes:
        takes: What its value is, for people.
        read: Its value of a text; None: it is no such value.
        of_keras: Only a training of Keras takes it.
        loader: It is one of a loader's.
    """

    takes: str
    read: Callable[[str], Any]
    of_keras: bool = False
    loader: bool = False


def _count(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and 1 <= int(text) <= 10**9 else None


def _number(text: str) -> int | None:
    return 0 if text == "0" else _count(text)


def _switch(text: str) -> bool | None:
    return {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}.get(text.lower())


KINDS: Mapping[str, Kind] = {
    "batch_size": Kind("a number of rows", _count, of_keras=True),
    "steps_per_execution": Kind("a number of steps", _count, of_keras=True),
    "run_eagerly": Kind("true or false", _switch, of_keras=True),
    "jit_compile": Kind("true or false", _switch, of_keras=True),
    "dtype": Kind(f"one of {', '.join(_POLICIES)}", lambda text: text if text in _POLICIES else None, of_keras=True),
    "threads": Kind("a number of threads", _count),
    "num_workers": Kind("a number of processes", _number, loader=True),
    "persistent_workers": Kind("true or false", _switch, loader=True),
    "prefetch_factor": Kind("a number of batches", _count, loader=True),
    "workers": Kind("a number of threads or processes", _number, loader=True),
    "use_multiprocessing": Kind("true or false", _switch, loader=True),
    "max_queue_size": Kind("a number of batches", _count, loader=True),
}
"""By name; loaders are PyTorch's `DataLoader` (first three) and Keras' data sets of Python (last three)."""


@dataclass(frozen=True)
class Change:
    """Settings that are tried together.

    Attributes:
        title: As they were typed.
        settings: Name to value, without variables.
        remedy: The same, as trials take it.
    """

    title: str
    settings: Mapping[str, Any]
    remedy: Remedy


def example(training: Training | None, loaders: Container[str]) -> str:
    """A setting that can be tried on a run, as it is typed; loaders by their kinds."""
    if training is not None and training.settings:
        return "--set batch_size=256" if training.batch_size != 256 else "--set batch_size=512"
    return "--set num_workers=2" if "DataLoader" in loaders else "--set threads=1"


def changes(words: Sequence[str], fitting: str = "--set threads=1") -> list[Change]:
    """What to try, of texts such as `batch_size=128,256`: one change for each combination of values.

    Args:
        words: The texts.
        fitting: What is proposed where there are none.

    Raises:
        UsageError: One is no setting; there is none; or there are too many.
    """
    if not words:
        raise UsageError("Nothing is to be changed.", hint=fitting)
    choices = [_choices(word) for word in words]
    names = [pairs[0][0] for pairs in choices]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{name} is set twice.", hint=f"--set {name}=VALUE,VALUE tries one after the other")
    made = [_change(pairs) for pairs in itertools.product(*choices)]
    if len(made) > CHANGES_AT_MOST:
        raise UsageError(f"These are {len(made)} combinations, and {CHANGES_AT_MOST} are tried at most.")
    return made


def _choices(word: str) -> list[tuple[str, Any]]:
    name, equals, text = word.partition("=")
    if not equals:
        raise UsageError(f"--set takes NAME=VALUE, not {word}.", hint="--set threads=1")
    if name.startswith(VARIABLE):
        if not _NAME.fullmatch(name[len(VARIABLE) :]):
            raise UsageError(f"{name} does not name an environment variable.", hint="--set env:OMP_NUM_THREADS=1")
        if name.startswith(f"{VARIABLE}DLPROF_"):
            raise UsageError(f"{name[len(VARIABLE) :]} is a variable of dlprof's own: it cannot be tried.")
        return [(name, text)]
    kind = KINDS.get(name)
    if kind is None:
        hint = f"one of {', '.join(KINDS)}, or env:VARIABLE"
        raise UsageError(f"{name} is no setting that can be tried.", hint=hint, near=nearest(name, KINDS))
    found = []
    for one in text.split(","):
        value = kind.read(one.strip())
        if value is None:
            raise UsageError(f"{name} takes {kind.takes}, not {one.strip() or 'nothing'}.")
        found.append((name, value))
    return found


def _change(pairs: Sequence[tuple[str, Any]]) -> Change:
    title = " ".join(f"{name.removeprefix(VARIABLE)}={_spelled(value)}" for name, value in pairs)
    environment: dict[str, str | None] = {}
    overrides: dict[str, Any] = {}
    for name, value in pairs:
        if name.startswith(VARIABLE):
            environment[name[len(VARIABLE) :]] = value
        elif KINDS[name].loader:
            overrides.setdefault("loader", {})[name] = value
        elif name == "dtype":
            overrides["floatx" if value in _PURE else "policy"] = value
        else:
            overrides[name] = value
            if name == "threads":
                environment |= thread_variables(value)
    settings = {name: value for name, value in pairs if not name.startswith(VARIABLE)}
    return Change(title, settings, Remedy(title, environment, overrides))


def _spelled(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def refuse(changed: Sequence[Change], training: Training | None, name: str) -> None:
    """Refuse what a run has no place for.

    Raises:
        UsageError: A setting is one of Keras' training, and Keras trained nothing in the run of that name.
    """
    wanted = [one for change in changed for one in change.settings if KINDS[one].of_keras]
    if wanted and (training is None or not training.settings):  # loops without Keras say nothing of settings
        raise UsageError(
            f"{wanted[0]} is a setting of Keras' training, and nothing was trained by Keras in {name}.",
            hint="threads, num_workers and env:VARIABLE can be tried on any script",
        )


def taken(name: str, value: Any, training: Training | None) -> bool | None:
    """Whether a trial had a setting, as its training says; None: that does not tell."""
    if training is None or KINDS[name].loader:
        return None
    if name == "batch_size":
        return None if training.batch_size is None else training.batch_size == value
    if name == "threads":
        counts = [count for engine, count in training.threads.items() if engine != "usable_cores"]
        return value in counts if counts else None
    told = training.settings.get(name)
    if name == "dtype":  # a Keras that has no policies says its type of floats alone
        told = training.settings.get("policy", training.settings.get("floatx"))
    return None if told is None else told == value
