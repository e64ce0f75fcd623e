"""`dlprof doctor`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from dlprof_probes.sidecar import gpu as gpu_probe
from dlprof_probes.sidecar import stacks
from dlprof_probes.sidecar.unavailable import Unavailable

from dlprof.cli import doctor
from dlprof.cli.doctor import Check
from dlprof.errors import UnavailableError
from dlprof.launch import data_folder, environments, gpu_tracers, interpreters, uvtool
from tests.unit.runs import dlprof


def looking(monkeypatch: pytest.MonkeyPatch, *looks: Callable[[], list[Check]]) -> None:
    """Let the doctor look at nothing else."""
    monkeypatch.setattr(doctor, "_LOOKS", looks)


def test_checks_are_printed_with_what_mends_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is missing is no failure."""
    looking(monkeypatch, lambda: [Check("uv", "ok", "/bin/uv"), Check("py-spy", "missing", "none", "install it")])

    assert dlprof("doctor") == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["ok", "uv", "/bin/uv"],
        ["missing", "py-spy", "none"],
        ["install", "it"],
    ]


def test_what_every_trace_needs_is_told_by_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """1, also with JSON."""
    looking(monkeypatch, lambda: [Check("dlprof", "broken", "no")])

    assert dlprof("doctor", "--json") == 1
    assert json.loads(capsys.readouterr().out) == {
        "schema": "dlprof.doctor/1",
        "checks": [{"name": "dlprof", "state": "broken", "found": "no", "mend": None}],
    }


def test_a_look_that_fails_does_not_end_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its error is what was found."""

    def _uv() -> list[Check]:
        raise UnavailableError("uv is not there", hint="pip install uv")

    def _odd() -> list[Check]:
        raise ZeroDivisionError("by 0")

    looking(monkeypatch, _uv, _odd, lambda: [Check("a", "ok", "b")])

    assert dlprof("doctor", "--json") == 0
    checks = json.loads(capsys.readouterr().out)["checks"]
    assert [(check["name"], check["found"], check["mend"]) for check in checks] == [
        ("uv", "uv is not there", "pip install uv"),
        ("odd", "ZeroDivisionError: by 0", None),
        ("a", "b", None),
    ]


def test_installed_backends_are_well_and_others_say_how_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of old locks are passed over."""
    known = [SimpleNamespace(name=name, state=name) for name in ("installed", "stale", "damaged")]
    monkeypatch.setattr(environments, "known", lambda: known)

    assert [(check.name, check.state, check.mend) for check in doctor._backends()] == [
        ("backend installed", "ok", None),
        ("backend damaged", "missing", "dlprof backends install damaged  (or at its first use)"),
    ]


def test_interpreters_are_told_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that leads nowhere is passed over."""

    def inspect(path: str) -> Any:
        if path == "shim":
            raise UnavailableError("nowhere")
        return SimpleNamespace(prefix="/usr", version_text="3.11.7")

    monkeypatch.setattr(interpreters, "candidates", lambda _environ: ["a", "b", "shim"])
    monkeypatch.setattr(interpreters, "inspect", inspect)

    assert [check.found.split() for check in doctor._interpreters()] == [["3.11.7", "/usr"]]


@pytest.mark.parametrize(
    ("packages", "state"), [({"keras": "3.1"}, "ok"), ({"tf_keras": "2.16"}, "ok"), ({}, "missing")]
)
def test_the_own_keras_is_looked_for(monkeypatch: pytest.MonkeyPatch, packages: dict[str, str], state: str) -> None:
    """Without one there are other ways."""
    monkeypatch.setattr(interpreters, "inspect", lambda _path: SimpleNamespace(packages=packages))

    (check,) = doctor._keras()
    assert (check.state, bool(check.mend)) == (state, state == "missing")


def test_a_machine_that_tells_neither_frequency_nor_temperature_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cores are there all the same."""
    monkeypatch.setattr(psutil, "cpu_freq", lambda: None, raising=False)
    monkeypatch.setattr(psutil, "sensors_temperatures", dict, raising=False)

    assert [(check.name, check.state) for check in doctor._cores()] == [
        ("cores", "ok"),
        ("frequency", "missing"),
        ("temperature", "missing"),
    ]


def test_gpus_that_cannot_be_read_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the probe's own reason."""

    def unavailable(*_arguments: object) -> None:
        raise Unavailable("no driver")

    monkeypatch.setattr(gpu_probe, "Gpu", unavailable)

    assert doctor._gpu() == [Check("GPU", "missing", "no driver")]


def test_gpus_are_named_with_what_they_do_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """By one sample."""

    class Gpu:
        def __init__(self, folder: Path, _processes: object) -> None:
            header = {"gpus": [{"name": "T4"}, {"name": None}], "driver": "550"}
            (folder / "gpu.jsonl").write_text(json.dumps(header) + "\n")
            self.writer = SimpleNamespace(finish=lambda _trailer: None)

        def sample(self) -> None:
            pass

        def trailer(self) -> dict[str, Any]:
            return {"missing": [{"metric": "power_w", "gpu": 0}]}

    monkeypatch.setattr(gpu_probe, "Gpu", Gpu)

    (check,) = doctor._gpu()
    assert (check.state, check.found) == ("ok", "T4, ?; driver 550; not supported: power_w (GPU 0)")


def test_py_spy_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the way to get it."""
    monkeypatch.setattr(stacks, "find", lambda: None)

    (check,) = doctor._stacks()
    assert (check.state, check.mend) == ("missing", f"{sys.executable} -m pip install py-spy")


@pytest.mark.parametrize(("program", "state"), [("true", "ok"), ("false", "missing")])
def test_py_spy_is_let_to_look_at_a_process_of_our_own(
    monkeypatch: pytest.MonkeyPatch, program: str, state: str
) -> None:
    """Rights cannot be told otherwise."""
    monkeypatch.setattr(stacks, "find", lambda: program)

    assert [check.state for check in doctor._stacks()] == [state]


def test_tools_that_are_not_on_the_path_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what will trace GPUs is said."""
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}" if name == "nsys" else None)
    monkeypatch.setattr(gpu_tracers, "choose", lambda _wanted: SimpleNamespace(name="nsys", reason="it is there"))
    monkeypatch.setattr(doctor, "_has_gpu", lambda: True)

    assert [(check.name, check.state, check.found) for check in doctor._gpu_tools()] == [
        ("nsys", "ok", "/bin/nsys"),
        ("nvprof", "missing", "not on PATH"),
        ("GPU tracer", "ok", "Nsight Systems: it is there"),
    ]


def test_without_a_gpu_no_tracer_is_said_to_be_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is nothing that it could trace."""
    monkeypatch.setattr(doctor, "_has_gpu", lambda: False)

    told = doctor._gpu_tools()[-1]
    assert (told.state, told.found) == ("missing", "none is needed without a GPU")


def test_interpreters_are_told_from_the_newest_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """By their versions as numbers."""
    monkeypatch.setattr(interpreters, "candidates", lambda _environ: ["3.9.18", "3.11.2", "3.10.13"])
    monkeypatch.setattr(interpreters, "inspect", lambda path: SimpleNamespace(prefix=f"/{path}", version_text=path))

    assert [check.found.split()[0] for check in doctor._interpreters()] == ["3.11.2", "3.10.13", "3.9.18"]


def test_a_data_folder_that_may_not_be_written_to_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With the way out."""
    monkeypatch.setattr(data_folder, "data_folder", lambda: tmp_path / "not" / "yet")
    assert doctor._disk()[0].found.endswith(f"in {tmp_path}/not/yet")

    monkeypatch.setattr("os.access", lambda _path, _mode: False)
    assert doctor._disk()[0].mend == "set DLPROF_DATA to another folder"


def test_dlprof_its_tools_and_their_settings_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Versions and paths."""
    monkeypatch.setattr(uvtool, "find", lambda: "/bin/uv")

    assert [check.state for look in (doctor._python, doctor._uv, doctor._line_profiler) for check in look()] == [
        "ok"
    ] * 3
    assert doctor._uv()[0].found.startswith("/bin/uv")
