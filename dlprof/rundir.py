"""The run folder: what lies in it, its manifest, making one.

    RUN/manifest.json      what was run, where, with which probes, and how it ended (versioned)
    RUN/raw/               artifacts of the probes, verbatim
    RUN/tables/*.parquet   the same, in the schema of dlprof.schema
    RUN/children/*         runs of the Pythons below a program that were followed

A run that was killed at any moment leaves a folder that opens: the manifest is written before the
script starts, always replaced as a whole, and its `state` says how far things got.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from dlprof import safe_files
from dlprof.errors import BadDataError, CannotCreateError, NoInputError
from dlprof.schema import manifest_json
from dlprof.schema.manifest import Manifest
from dlprof.schema.vocabulary import RunState

_STACKS = "stacks-[0-9][0-9][0-9]"
_FULL_BYTES = 64 << 10
"""Less free space than this counts as a full disk."""
_ROOT = 0
_START = 19
"""Where the time of a process's start stands in `/proc/PID/stat`, behind the name (ticks since the machine's)."""
_MANIFEST_MOST = 64 << 20
SOURCE_MOST = 32 << 20
"""Bytes of a manifest, and of a source file, at most."""
_READ = ("manifest.json", "raw", "tables")
"""What of a run folder is read, but for single files that `safe_files` opens."""
_COPY = "if it is a run of yours, put files in the place of links: cp -rL RUN COPY"
CHILDREN = "children"
"""Folder, in that of a program's run, that takes the runs of the Pythons that it started and that were followed."""
RANKS = "rank-[0-9][0-9][0-9]*"
"""Folders, in one that holds nothing else, of the runs of the ranks of one training."""
RUNS_FOLDER = "dlprof_runs"
"""Folder, below the current one, that takes runs which are given no name."""
_UNDECODED = re.compile("[\udc80-\udcff]")
"""What stands for a byte of a file's name that is no text."""


class RunDir(Struct, frozen=True):
    """A run folder by its path."""

    path: Path
    shown: Path | None = None
    """Where the user has it, if `path` is a copy."""

    @property
    def place(self) -> Path:
        """Where the user has it."""
        return self.shown or self.path

    @property
    def raw(self) -> Path:
        """Folder of the raw artifacts."""
        return self.path / "raw"

    @property
    def tables(self) -> Path:
        """Folder of the Parquet tables."""
        return self.path / "tables"

    @property
    def payload(self) -> Path:
        """Folder of the in-process probe's code while the run goes on."""
        return self.path / "payload"

    @property
    def manifest_path(self) -> Path:
        """The manifest's file."""
        return self.path / "manifest.json"

    def source_name(self, short: str) -> str:
        """Where below `raw` the copy of a source file lies, by its name in the tables; never outside."""
        named = short.encode("utf-8", "replace").decode("utf-8")  # as tables have a name that is no UTF-8
        inside = os.path.normpath("/" + named.removeprefix("~/").replace("\0", "")).lstrip("/")
        return f"sources/{inside or 'unnamed'}"

    def source_path(self, short: str) -> Path:
        """Its path."""
        return self.raw / self.source_name(short)

    def source_lines(self, short: str) -> list[str]:
        """The lines of a source file as it was when it ran; none where no copy was kept."""
        try:
            content = safe_files.read(self.path, f"raw/{self.source_name(short)}", SOURCE_MOST)
        except (OSError, ValueError):
            return []
        return content.decode("utf-8", errors="replace").splitlines()

    def refuse_strange(self) -> None:
        """Refuse a folder in which something is neither a regular file nor a folder: dlprof puts no such thing there.

        Raises:
            BadDataError: There is a link, a pipe or a device, or a folder cannot be read.
        """
        try:
            found = safe_files.strange(self.path, _READ)
        except OSError as error:
            raise BadDataError(f"{self.place} cannot be read: {error.strerror or error}.") from error
        if found:
            raise BadDataError(f"{self.place} is not opened: {found}, and no run of dlprof holds such.", hint=_COPY)

    @property
    def is_ours(self) -> bool:
        """Whether nobody else can change what is in it, and this user can."""
        try:
            state = self.path.stat()
        except OSError:
            return False
        return state.st_uid == os.geteuid() and not state.st_mode & stat.S_IWOTH and os.access(self.path, os.W_OK)

    def read_manifest(self) -> Manifest:
        """The manifest.

        Raises:
            NoInputError: There is no run here.
            BadDataError: The manifest is damaged, foreign, or of a newer dlprof.
        """
        try:
            return manifest_json.decode(safe_files.read_path(self.manifest_path, _MANIFEST_MOST))
        except FileNotFoundError:
            raise NoInputError(f"{self.place} is not a run folder of dlprof.", hint="dlprof runs") from None
        except manifest_json.NewerFormatError as error:
            raise BadDataError(
                f"{self.place} was made by a newer dlprof (format {error}).", hint="pip install -U dlprof"
            ) from error
        except (OSError, manifest_json.ManifestError) as error:
            raise BadDataError(f"{self.place / 'manifest.json'} cannot be read: {error}.") from error

    def write_manifest(self, manifest: Manifest) -> None:
        """Replace the manifest as a whole.

        Raises:
            CannotCreateError: The file cannot be written.
        """
        with writing_into(self.path):
            replace_text(self.manifest_path, manifest_json.encode(manifest).decode("utf-8"))

    def stack_files(self) -> list[Path]:
        """The segments of sampled stacks, in order; of one that is there both packed and not, that which is not."""
        found = {path.name.removesuffix(".gz"): path for path in self.raw.glob(f"{_STACKS}.json.gz")}
        found.update((path.name, path) for path in self.raw.glob(f"{_STACKS}.json"))
        return [found[name] for name in sorted(found)]

    def disk_full(self) -> str | None:
        """The reason why something left nothing, if it is that the disk was full."""
        return "the disk was full" if shutil.disk_usage(self.path).free < _FULL_BYTES else None

    def size_bytes(self) -> int:
        """Bytes of all files of the run."""
        return safe_files.size(self.path)


def replace_text(path: Path, text: str) -> None:
    """Write `text` to `path` so that a reader sees either the old file or the new one, whole; links are replaced."""
    with safe_files.new_file(path) as out:
        out.write(text.encode("utf-8"))


def umask() -> int:
    """What new files are not allowed; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextlib.contextmanager
def writing_into(folder: Path, *, mend: str | None = None) -> Iterator[None]:
    """Turn failures to write below `folder` into one clear sentence.

    Args:
        folder: The folder.
        mend: What to try; None: another folder with -o.
    """
    try:
        yield
    except OSError as error:
        raise CannotCreateError(f"Cannot write to {folder}: {_reason(error)}.", hint=mend or _mend(error)) from error


def _reason(error: OSError) -> str:
    return os.strerror(error.errno).lower() if error.errno else str(error)


def _mend(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "free some space, or choose a folder on another disk with -o DIR"
    return "choose another folder with -o DIR"


def create(path: Path | None, name: str, now: datetime) -> RunDir:
    """Make an empty run folder.

    Args:
        path: Where the user wants it; None: a new one below `dlprof_runs/`.
        name: Part of the folder's name in that case, for example `mlp-mxnet`.
        now: Local time, part of the folder's name too.

    Raises:
        CannotCreateError: It exists and is not empty, or cannot be made.
    """
    path = _wanted(path, name, now)
    with writing_into(path):
        run = RunDir(path.absolute())
        path.parent.mkdir(parents=True, exist_ok=True)
        make_private(path)
        make_private(run.raw)
    return run


def _wanted(path: Path | None, name: str, now: datetime) -> Path:
    """The folder that is to be made: nothing is there, or an empty one.

    Raises:
        CannotCreateError: It holds something, or cannot be looked at: its name is too long, a parent is a file.
    """
    with writing_into(path or Path(RUNS_FOLDER)):
        if path is None:
            _refuse_other_s(Path(RUNS_FOLDER))
        path = path or free_path(name, now)
        _refuse_other_bytes(path)
        refuse_full(path)
    return path


def _refuse_other_s(folder: Path) -> None:
    """Refuse a folder for runs that is another user's: he could put links in the place of what is written there.

    Raises:
        CannotCreateError: It is.
    """
    if not os.path.lexists(folder):
        return
    owners = {folder.lstat().st_uid, folder.stat().st_uid} - {_ROOT, os.geteuid()}
    if owners and owners != {_own_number_in(folder)}:
        raise CannotCreateError(f"{folder} belongs to another user.", hint="choose another folder with -o DIR")


def _own_number_in(folder: Path) -> int:
    """Whose new folders in a folder are: servers of files may give us another number than the system does."""
    made = Path(tempfile.mkdtemp(prefix=".", dir=folder))
    try:
        return made.stat().st_uid
    finally:
        made.rmdir()


def _refuse_other_bytes(path: Path) -> None:
    """Manifests and pages are UTF-8: a run whose path is not could be made, but not be told of."""
    try:
        str(path.absolute()).encode("utf-8")
    except UnicodeEncodeError:
        shown = str(path).encode("utf-8", "replace").decode("utf-8")
        text = f"The name of the output folder {shown} is not UTF-8."
        raise CannotCreateError(text, hint="choose another with -o DIR") from None


def make_private(folder: Path) -> None:
    """Make a folder that none but its owner may look into: a run holds source text, command lines and paths.

    One that is there already keeps the rights that its owner gave it.
    """
    folder.mkdir(mode=0o700, exist_ok=True)


def free_path(name: str, now: datetime) -> Path:
    """Where a new run of this name would go: below `dlprof_runs/`, not made yet.

    The name is often a script's, whose bytes may be no text, in UTF-8 or in this locale; the folder's is.
    """
    return free_name(Path(RUNS_FOLDER), f"{now:%Y%m%d-%H%M%S}-{_UNDECODED.sub('_', name)}")


def repeats_folder(path: Path | None, label: str) -> Path:
    """Make the empty folder of a run that is repeated: it takes one run folder each.

    Args:
        path: Where the user wants it; None: a new one below `dlprof_runs/`.
        label: Part of its name in that case.

    Raises:
        CannotCreateError: It exists and is not empty, or cannot be made.
    """
    path = _wanted(path, f"{label}-repeats", datetime.now().astimezone())
    with writing_into(path):
        path.mkdir(parents=True, exist_ok=True)
    return path


def holds_something(path: Path) -> bool:
    """Whether a file is there, or a folder that is not empty."""
    return path.exists() and (not path.is_dir() or any(path.iterdir()))


def refuse_full(path: Path) -> None:
    """Refuse an output folder that holds something already.

    Raises:
        CannotCreateError: It does.
    """
    if holds_something(path):
        raise CannotCreateError(
            f"The output folder {path} exists and is not empty.", hint="choose another with -o DIR, or remove it"
        )


def free_name(folder: Path, name: str) -> Path:
    """A path in `folder` that is not taken: that name, or the name with a number."""
    path, number = folder / name, 1
    while path.exists():
        number += 1
        path = folder / f"{name}-{number}"
    return path


def find(folder: Path) -> list[RunDir]:
    """All run folders directly below `folder`, oldest first; in a run's own folder those of its children."""
    if has_manifest(folder):
        folder = folder / CHILDREN
    if not folder.is_dir():
        return []
    found = [RunDir(path.absolute()) for path in folder.iterdir() if has_manifest(path)]
    return sorted(found, key=lambda run: (last_written(run.manifest_path), run.path.name))


def has_manifest(path: Path) -> bool:
    """Whether a folder is one of a run."""
    with contextlib.suppress(OSError):  # a folder that is not ours to look into
        return (path / "manifest.json").is_file()
    return False


def last_written(path: Path) -> int:
    """When a file was last written (ns); 0: it is gone meanwhile."""
    with contextlib.suppress(OSError):
        return path.stat().st_mtime_ns
    return 0


def goes_on(manifest: Manifest) -> bool:
    """Whether the dlprof that makes this run is still at work."""
    conductor = manifest.conductor
    if manifest.state != RunState.RUNNING or conductor is None or conductor.pid == os.getpid():
        return False
    try:
        # Numbers of processes are given out again: the time of its start tells whether it is the same.
        return abs(process_start(conductor.pid) - conductor.started) < 1
    except (OSError, ValueError, IndexError):  # numbers that no process has
        return False


def process_start(pid: int) -> float:
    """When a process was started (s of the wall clock).

    Raises:
        OSError: There is no such process.
    """
    words = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    boot = next(line for line in Path("/proc/stat").read_bytes().splitlines() if line.startswith(b"btime "))
    return int(boot.split()[1]) + int(words[_START]) / os.sysconf("SC_CLK_TCK")
