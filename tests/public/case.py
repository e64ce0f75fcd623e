"""What is known of a public script: where it is, how it is shortened, what it reads, and what a profile has to say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """Files of a public repository at a commit.

    Attributes:
        repository: Owner and name on GitHub.
        commit: 40 hexadecimal digits.
        path: The script. Of a notebook, its cells of code are run one after the other.
        also: Further files that it imports or reads.
    """

    repository: str
    commit: str
    path: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Edit:
    """A text of the script that is replaced wherever it stands, to make it short, or independent of a network.

    Attributes:
        old, new: The texts.
        times: How often `old` must be there.
        path: The file, where it is not the script.
    """

    old: str
    new: str
    times: int = 1
    path: str | None = None


@dataclass(frozen=True)
class Input:
    """A file that the script reads, made up: random data in the format that it loads.

    Attributes:
        path: Where, from the folder that the script runs in.
        kind: The name of a function of `tests.public.inputs`.
        sizes: Its arguments.
    """

    path: str
    kind: str
    sizes: tuple[int | str, ...] = ()


@dataclass(frozen=True)
class Loop:
    """A loop as `loops` of the report has it, counted by hand from the script and its sizes.

    Attributes:
        name: `fit`, `evaluate`, `predict`, `train_on_batch` ...
        steps: Of all of them.
        epochs: Of all of them; None: it has none.
        runs: How often such a loop began.
    """

    name: str
    steps: int
    epochs: int | None = None
    runs: int = 1


@dataclass(frozen=True)
class Case:
    """A public script, and what is to be told of it.

    Attributes:
        name: Its name here.
        framework: Whose example it is.
        environment: Name of an `environments.Environment`.
        source: Where it is.
        loops: The loops that it has, each with its counts.
        counted: How the counts come about, for readers.
        layers: Names that the kernels by layer must have; empty where the engine, or the script, has none.
        edits: How it is shortened.
        inputs: What it reads.
        arguments: Of its command line.
        folder: The one that it runs in, from the root of its repository; None: its own.
        folders: Further folders that must be there, from the one that it runs in.
        variables: Of its environment.
        varies: Regular expressions of what it prints that is never twice the same, such as times.
        script_percent: At most so much of the time from the first loop on may be `script`.
        because: Why that is not 10.
    """

    name: str
    framework: str
    environment: str
    source: Source
    loops: tuple[Loop, ...]
    counted: str
    layers: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    inputs: tuple[Input, ...] = ()
    arguments: tuple[str, ...] = ()
    folder: str | None = None
    folders: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    varies: tuple[str, ...] = ()
    script_percent: float = 10.0
    because: str = ""
