"""Managed environments on the disk: their names, states and locks; nothing is installed here."""

from __future__ import annotations

import fcntl
import json
import os
import sys
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace

from dlprof import cli
from dlprof.backends import registry
from dlprof.backends.base import BackendSpec
from dlprof.errors import CannotCreateError, NoInputError, UnavailableError, UsageError
from dlprof.launch import environments, interpreters, uvtool
from dlprof.launch.data_folder import MARKER
from dlprof.launch.environments import Environment
from dlprof.launch.interpreters import InterpreterFacts

FACTS = InterpreterFacts(Path(sys.executable), (3, 11, 7), "cpython", "linux-x86_64", sys.prefix, {})


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BackendSpec:
    """The only backend there is: `small`, whose lock has one package. Python 3.11 is found at once."""
    monkeypatch.setenv("DLPROF_DATA", str(tmp_path / "data"))
    (tmp_path / "small.txt").write_text("six==1.17.0 --hash=sha256:00\n")
    small = BackendSpec("small", "Small", tmp_path / "small.txt", ">=3.11", "none")
    monkeypatch.setattr(registry, "all_specs", lambda: {"small": small})
    monkeypatch.setattr(interpreters, "find", lambda _specifier: FACTS)
    return small


@pytest.fixture
def uv(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """A stand-in for uv that makes a folder with an interpreter; the list takes its calls."""
    calls: list[list[str]] = []

    def run(arguments: list[str], **_options: object) -> None:
        calls.append(arguments)
        if arguments[0] == "venv":
            folder = Path(arguments[-1]) / "bin"
            folder.mkdir(parents=True)
            (folder / "python").symlink_to(sys.executable)
        if "--target" in arguments:
            Path(arguments[arguments.index("--target") + 1]).mkdir()

    monkeypatch.setattr(uvtool, "run", run)
    return calls


def ensure(spec: BackendSpec) -> tuple[Environment, list[str]]:
    """The environment, and what the user was told."""
    said: list[str] = []
    return environments.ensure(spec, report=said.append), said


def test_the_name_holds_backend_python_and_digest(spec: BackendSpec, tmp_path: Path) -> None:
    """Below the data folder."""
    found = environments.expected(spec, FACTS)

    assert found.path == tmp_path / "data" / "environments" / f"small-py311-{found.digest}"
    assert len(found.digest) == 12


@pytest.mark.parametrize(
    "facts", [replace(FACTS, version=(3, 12, 1)), replace(FACTS, platform="linux-aarch64")], ids=["python", "platform"]
)
def test_another_interpreter_is_another_environment(spec: BackendSpec, facts: InterpreterFacts) -> None:
    """Its wheels are others."""
    assert environments.expected(spec, facts).digest != environments.expected(spec, FACTS).digest


def test_a_patch_release_of_python_is_the_same_environment(spec: BackendSpec) -> None:
    """Its wheels are the same."""
    facts = replace(FACTS, version=(3, 11, 9))

    assert environments.expected(spec, facts) == environments.expected(spec, FACTS)


def test_files_that_are_added_change_the_digest(spec: BackendSpec, tmp_path: Path) -> None:
    """A new shim is a new environment."""
    shim = tmp_path / "shim.py"
    digests = set()
    for text in ("a = 1", "a = 2"):
        shim.write_text(text)
        digests.add(environments.expected(replace(spec, site_files=(shim,)), FACTS).digest)

    assert len(digests) == 2


def test_a_lock_that_is_missing_is_named(spec: BackendSpec, tmp_path: Path) -> None:
    """A plug-in may have lost its files."""
    with pytest.raises(UnavailableError, match=r"The backend small cannot be made: .*lost\.txt cannot be read"):
        environments.expected(replace(spec, lock=tmp_path / "lost.txt"), FACTS)


def test_the_user_is_told_what_is_made(spec: BackendSpec, uv: list[list[str]]) -> None:
    """One line before, one after; hashes are asked for and nothing is compiled."""
    made, said = ensure(spec)

    assert said[0] == "small: making its environment with Python 3.11.7 (once; up to 1 packages)"
    assert said[1].startswith("small: ready after ")
    assert made.state == "installed"
    assert {"--require-hashes", "--only-binary"} <= set(uv[1])


def test_one_without_its_marker_is_made_again(spec: BackendSpec, uv: list[list[str]]) -> None:
    """It was killed half-way; nothing of it stays."""
    path = environments.expected(spec, FACTS).path
    (path / "bin").mkdir(parents=True)
    (path / "half").touch()

    ensure(spec)

    assert not (path / "half").exists()
    assert (path / "dlprof-environment.json").exists()


def test_one_whose_interpreter_is_gone_is_made_again(spec: BackendSpec, uv: list[list[str]]) -> None:
    """The Python that it leads to was uninstalled."""
    made, _said = ensure(spec)
    made.python.unlink()
    made.python.symlink_to("/nonexistent/python")

    assert environments.expected(spec, FACTS).state == "not installed"
    again, said = ensure(spec)

    assert again == made
    assert len(said) == 2
    assert made.python.exists()


def test_a_failure_leaves_nothing_half_made(spec: BackendSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also Ctrl-C."""

    def run(arguments: list[str], **_options: object) -> None:
        if arguments[0] == "venv":
            Path(arguments[-1]).mkdir(parents=True)
        else:
            raise KeyboardInterrupt

    monkeypatch.setattr(uvtool, "run", run)

    with pytest.raises(KeyboardInterrupt):
        ensure(spec)

    assert not environments.expected(spec, FACTS).path.exists()


def test_a_run_waits_for_another_that_makes_the_same(spec: BackendSpec, uv: list[list[str]]) -> None:
    """And says so."""
    path = environments.expected(spec, FACTS).path
    path.parent.mkdir(parents=True)
    said: list[str] = []
    waits = threading.Event()

    def report(line: str) -> None:
        said.append(line)
        if line.endswith("waiting"):
            waits.set()

    with (path.parent / f"{path.name}.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        other = threading.Thread(target=environments.ensure, args=(spec,), kwargs={"report": report})
        other.start()
        assert waits.wait(30)
        assert uv == []
    other.join(30)

    assert said[0] == f"{path.name}: another run is making it; waiting"
    assert environments.expected(spec, FACTS).state == "installed"


def test_a_lock_that_was_removed_meanwhile_is_taken_anew(spec: BackendSpec, uv: list[list[str]]) -> None:
    """Held on a file that is gone, it would keep nobody out."""
    path = environments.expected(spec, FACTS).path
    name = path.parent / f"{path.name}.lock"
    path.parent.mkdir(parents=True)
    waits = threading.Event()
    held = name.open("w")
    fcntl.flock(held, fcntl.LOCK_EX)
    maker = threading.Thread(target=environments.ensure, args=(spec,), kwargs={"report": lambda _line: waits.set()})
    maker.start()
    assert waits.wait(30)

    name.unlink()
    held.close()
    maker.join(30)

    assert environments.expected(spec, FACTS).state == "installed"
    assert name.exists()


def test_a_data_folder_that_cannot_be_written_is_one_sentence(
    spec: BackendSpec, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The hint names the variable that chooses another."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("DLPROF_DATA", str(tmp_path / "file"))

    with pytest.raises(CannotCreateError, match="not a directory") as caught:
        ensure(spec)

    assert caught.value.hint == "set DLPROF_DATA to a folder that you may write to"


def test_one_of_an_earlier_lock_is_stale_and_goes_with_remove(
    spec: BackendSpec, uv: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is never removed by itself; both go, and so do their locks."""
    old, _said = ensure(spec)
    spec.lock.write_text(spec.lock.read_text() + "# new\n")
    new, _said = ensure(spec)

    assert [(env.state, env.path, env.version) for env in environments.known()] == [
        ("installed", new.path, "3.11"),
        ("stale", old.path, "3.11"),
    ]
    assert sorted(environments.remove("small")) == sorted([old.path, new.path])
    assert os.listdir(new.path.parent) == []


def test_what_a_plug_in_left_can_be_removed_without_it(
    spec: BackendSpec, uv: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is listed as stale."""
    made, _said = ensure(spec)
    monkeypatch.setattr(registry, "all_specs", dict)

    assert [env.state for env in environments.known()] == ["stale"]
    assert environments.remove("small") == [made.path]
    with pytest.raises(UsageError, match="There is no backend small"):
        environments.remove("small")


def test_path_of_one_that_is_not_installed_says_how_to_install_it(spec: BackendSpec) -> None:
    """With the command."""
    with pytest.raises(NoInputError) as caught:
        environments.path_of("small")

    assert caught.value.hint == "dlprof backends install small"


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What `dlprof backends …` prints."""
    module, args = cli.parse(["backends", *arguments])
    assert module.run(args) == 0
    return capsys.readouterr().out


def test_every_subcommand_has_json(spec: BackendSpec, uv: list[list[str]], capsys: pytest.CaptureFixture[str]) -> None:
    """With the schema's name and the same fields."""
    path = str(environments.expected(spec, FACTS).path)
    row: dict[str, object] = {
        "name": "small",
        "title": "Small",
        "state": "not installed",
        "environment_of": None,
        "python": "3.11",
        "size_bytes": None,
        "path": None,
    }

    assert json.loads(printed(capsys, "list", "--json")) == {"schema": "dlprof.backends/1", "backends": [row]}
    installed = json.loads(printed(capsys, "install", "small", "--json"))
    size = (Path(path) / "dlprof-environment.json").stat().st_size
    row |= {"state": "installed", "size_bytes": size, "path": path}
    assert (
        installed
        == json.loads(printed(capsys, "path", "small", "--json"))
        == {"schema": "dlprof.backends/1", "backends": [row]}
    )
    assert json.loads(printed(capsys, "remove", "small", "--json")) == {
        "schema": "dlprof.backends/1",
        "removed": {"small": [path]},
    }


def test_the_list_is_a_line_for_each(
    spec: BackendSpec, uv: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Name, state, title, Python, size and path."""
    made, _said = ensure(spec)

    assert printed(capsys).split() == ["small", "installed", "Small", "3.11", "0", "MB", str(made.path)]


@pytest.fixture
def made(spec: BackendSpec, uv: list[list[str]]) -> Environment:
    """The environment, with a package of one module of four bytes in it, as uv would have left it."""
    environment, _ = ensure(spec)
    packages = environment.path / "lib" / "python3.11" / "site-packages"
    (packages / "six-1.17.0.dist-info").mkdir(parents=True)
    (packages / "six.py").write_text("123\n")
    (packages / "six-1.17.0.dist-info" / "RECORD").write_text(
        "six.py,sha256=GBIQ-PnHecJtodmyB1veAScwLuDj_KOMmoP1sd2OXTs,4\nsix-1.17.0.dist-info/RECORD,,\n"
    )
    marker = environment.path / MARKER
    facts = {**json.loads(marker.read_text()), "packages": ["six-1.17.0.dist-info", "six.py"]}
    marker.write_text(json.dumps(facts))
    return environment


def packages_of(environment: Environment) -> Path:
    """Its site-packages."""
    return environment.path / "lib" / "python3.11" / "site-packages"


def test_one_with_a_package_removed_by_hand_is_damaged(made: Environment, spec: BackendSpec) -> None:
    """A run says so and how to mend it, and does not throw away what the user may have changed on purpose."""
    (packages_of(made) / "six.py").unlink()

    assert environments.expected(spec, FACTS).state == "damaged"
    with pytest.raises(UnavailableError, match="The environment of small is damaged: six.py is missing") as caught:
        ensure(spec)
    assert caught.value.hint == "dlprof backends install small"


@pytest.mark.parametrize("content", [None, "1234567\n", "124\n"], ids=["gone", "larger", "changed"])
def test_install_mends_a_damaged_one(
    made: Environment, spec: BackendSpec, uv: list[list[str]], content: str | None
) -> None:
    """It looks at every file, and makes the environment anew when one is missing or not what was installed."""
    module = packages_of(made) / "six.py"
    module.unlink() if content is None else module.write_text(content)
    uv.clear()
    said: list[str] = []

    environments.ensure(spec, report=said.append, repair=True)

    assert said[0] == "small: six.py missing or changed; it is made anew"
    assert [call[0] for call in uv] == ["venv", "pip"]


def test_install_leaves_a_whole_one_alone(made: Environment, spec: BackendSpec, uv: list[list[str]]) -> None:
    """And says nothing."""
    uv.clear()
    said: list[str] = []

    environments.ensure(spec, report=said.append, repair=True)

    assert (uv, said) == ([], [])


def test_a_backend_in_the_environment_of_another_makes_that_one(
    spec: BackendSpec, uv: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And cannot be removed by itself."""
    native = replace(spec, name="native-small", environment_of="small")
    monkeypatch.setattr(registry, "all_specs", lambda: {"small": spec, "native-small": native})
    monkeypatch.setattr(environments, "_made", list)

    assert ensure(native)[0].path == ensure(spec)[0].path
    with pytest.raises(UsageError, match="native-small runs in the environment of small"):
        environments.remove("native-small")


def test_the_script_that_finishes_an_environment_is_run_by_it(
    spec: BackendSpec, uv: list[list[str]], tmp_path: Path
) -> None:
    """After everything is installed; what it says last is the reason when it fails."""
    finish = tmp_path / "finish.py"
    finish.write_text("import sys; sys.exit('no gcc')")

    with pytest.raises(UnavailableError, match="Cannot install the backend small: no gcc"):
        ensure(replace(spec, finish=finish))


def test_source_packages_are_built_with_what_was_locked(spec: BackendSpec, uv: list[list[str]], tmp_path: Path) -> None:
    """It is installed before them, by its hashes, and they ask for nothing else."""
    lock = tmp_path / "build.txt"
    lock.write_text("setuptools==79.0.1 --hash=sha256:00")

    ensure(replace(spec, source_packages=("six",), build_lock=lock))

    tools, packages = (" ".join(call) for call in uv[1:3])
    assert "--require-hashes" in tools
    assert tools.endswith(f"-r {lock}")
    assert "--no-binary six --no-build-isolation" in packages


def test_a_missing_interpreter_is_named_with_the_way_to_get_it(
    spec: BackendSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Uv does not have Python 3.6."""

    def find(specifier: str) -> InterpreterFacts:
        raise UnavailableError(f"No Python {specifier} was found.", hint="uv python install 3.11")

    monkeypatch.setattr(interpreters, "find", find)

    with pytest.raises(UnavailableError, match="The backend small needs it") as caught:
        ensure(replace(spec, python=">=3.6,<3.7", how_to_get_python="pyenv install 3.6.15"))

    assert caught.value.hint == "pyenv install 3.6.15"
