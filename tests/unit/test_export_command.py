"""`dlprof export`: where files go, what it says, and what it refuses; the bytes that all writers share."""

from __future__ import annotations

import importlib
import json
import struct
from pathlib import Path

import pytest

from dlprof.export import protobuf
from dlprof.export.eventfile import EventWriter, masked_crc32c
from dlprof.export.formats import FORMATS
from tests.unit.exports import whole
from tests.unit.runs import dlprof, make, trained

DOCS = Path(__file__).parents[2] / "docs"
FILES = [name for name, one in FORMATS.items() if not one.folder]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run, from a folder of the user's."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return whole(tmp_path / "run").folder.path


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_writes_to_the_name_of_the_run(name: str, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The path is printed; how to open it is said beside."""
    assert dlprof("export", run, "--to", name) == 0

    printed = capsys.readouterr()
    assert printed.out == f"run{FORMATS[name].ending}\n"
    assert FORMATS[name].viewer.format(path=f"run{FORMATS[name].ending}") in printed.err
    assert Path(f"run{FORMATS[name].ending}").is_dir() == FORMATS[name].folder
    assert [path.name for path in Path().iterdir()] == [f"run{FORMATS[name].ending}"]


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_is_replaced_without_force(name: str, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second export is refused, and made with --force."""
    assert dlprof("export", run, "--to", name, "-o", "out") == 0

    assert dlprof("export", run, "--to", name, "-o", "out") == 73
    assert "--force" in capsys.readouterr().err
    assert dlprof("export", run, "--to", name, "-o", "out", "--force") == 0


@pytest.mark.parametrize("name", FORMATS)
def test_the_run_itself_is_never_written_to(name: str, run: Path) -> None:
    """Not even with --force."""
    before = sorted(path.name for path in (run / "tables").iterdir())

    assert dlprof("export", run, "--to", name, "-o", run / "tables", "--force") == 73

    assert sorted(path.name for path in (run / "tables").iterdir()) == before


@pytest.mark.parametrize("name", FILES)
def test_a_folder_is_not_replaced_by_a_file(name: str, run: Path) -> None:
    """Not even with --force."""
    Path("out").mkdir()

    assert dlprof("export", run, "--to", name, "-o", "out", "--force") == 73


def test_a_file_is_not_replaced_by_a_folder(run: Path) -> None:
    """Not even with --force."""
    Path("out").write_text("mine")

    assert dlprof("export", run, "--to", "csv", "-o", "out", "--force") == 73
    assert Path("out").read_text() == "mine"


@pytest.mark.parametrize("name", FORMATS)
def test_texts_go_to_standard_output_and_nothing_else_does(
    name: str, run: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """What a terminal cannot show is refused as a wrong command line."""
    code = dlprof("export", run, "--to", name, "-o", "-")

    assert code == (0 if FORMATS[name].text else 64)
    assert bool(capfdbinary.readouterr().out) == FORMATS[name].text
    assert not list(Path().iterdir())


def test_an_export_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No half file, and the old one as it was."""
    monkeypatch.chdir(tmp_path)
    run = make(tmp_path / "run")
    Path("out").write_text("mine")

    assert dlprof("export", run.folder.path, "--to", "pprof", "-o", "out", "--force") == 66

    assert Path("out").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "run"]


def test_a_place_that_is_not_there_is_one_sentence(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And the exit code of what cannot be written."""
    assert dlprof("export", run, "--to", "json", "-o", "nowhere/out.json") == 73

    assert capsys.readouterr().err.startswith("dlprof: error: Cannot write to nowhere: no such file")


def test_runs_share_a_log_folder_of_tensorboard(tmp_path: Path) -> None:
    """Each has a folder in it, with its own event file."""
    for name in ("one", "two"):
        trained(tmp_path / name)
        assert dlprof("export", tmp_path / name, "--to", "tensorboard", "-o", tmp_path / "logs") == 0

    assert sorted(path.parent.name for path in (tmp_path / "logs").rglob("events.out.tfevents.*")) == ["one", "two"]


def test_traces_of_the_engine_are_copied_for_the_profile_plugin(tmp_path: Path) -> None:
    """Each window is a profile of its own."""
    run = trained(tmp_path / "run")
    file = run.folder.raw / "kernels" / "window-000" / "plugins" / "profile" / "2026" / "vm.xplane.pb"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"trace")

    assert dlprof("export", run.folder.path, "--to", "tensorboard", "-o", tmp_path / "logs") == 0

    copied = tmp_path / "logs" / "run" / "plugins" / "profile" / "window-000" / "vm.xplane.pb"
    assert copied.read_bytes() == b"trace"


def test_an_unknown_format_is_a_wrong_command_line(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And all that there are are named."""
    with pytest.raises(SystemExit) as ended:
        dlprof("export", run, "--to", "svg")

    assert ended.value.code == 64
    said = capsys.readouterr().err
    assert all(f"'{name}'" in said for name in ("svg", *FORMATS))


def test_every_format_has_its_writer_and_its_section() -> None:
    """The table, the modules and docs/exporting.md agree."""
    text = (DOCS / "exporting.md").read_text(encoding="utf-8")

    for name, one in FORMATS.items():
        assert callable(importlib.import_module(f"dlprof.export.{one.module}").write)
        assert f"\n## {name}\n" in text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "00"),
        (127, "7f"),
        (128, "8001"),
        (300, "ac02"),
        (-1, "ffffffffffffffffff01"),
        (2**64 - 1, "ffffffffffffffffff01"),
    ],
)
def test_numbers_are_written_seven_bits_to_a_byte(value: int, expected: str) -> None:
    """As protocol buffers have them."""
    assert protobuf.varint(value).hex() == expected


def test_fields_begin_with_their_number_and_kind() -> None:
    """The examples of the format's own description, and the other kinds."""
    assert protobuf.integer(1, 150).hex() == "089601"
    assert protobuf.text(2, "testing").hex() == "120774657374696e67"
    assert protobuf.message(3, protobuf.integer(1, 150)).hex() == "1a03089601"
    assert protobuf.packed(6, [3, 270, 86942]).hex() == "3206038e029ea705"
    assert protobuf.double(1, 1.0) == b"\x09" + struct.pack("<d", 1.0)
    assert protobuf.single(1, 1e300) == b"\x0d" + struct.pack("<f", float("inf"))


def test_texts_that_are_no_unicode_are_written_all_the_same() -> None:
    """Such are names of files in Python; what they lack becomes a question mark."""
    assert protobuf.text(1, "a\udc80") == b"\n\x02a?"


def test_checksums_are_crc32c() -> None:
    """The check value of CRC-32C is that of "123456789"; rotated and masked as TensorFlow does."""
    plain = 0xE3069283

    assert masked_crc32c(b"123456789") == ((plain >> 15 | plain << 17) + 0xA282EAD8) & 0xFFFFFFFF


def test_records_have_length_data_and_checksums(tmp_path: Path) -> None:
    """The first of an event file says its version."""
    path = tmp_path / "events"
    with path.open("wb") as out:
        EventWriter(out, 1.0)

    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    assert len(data) == 12 + length + 4
    assert struct.unpack("<I", data[8:12]) == (masked_crc32c(data[:8]),)
    assert struct.unpack("<I", data[-4:]) == (masked_crc32c(data[12:-4]),)
    assert data[12:-4].endswith(b"brain.Event:2")


def test_json_on_standard_output_is_one_object(run: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Nothing else is printed there."""
    dlprof("export", run, "--to", "json", "-o", "-")

    assert json.loads(capfdbinary.readouterr().out)["report"]["run"] == "run"
