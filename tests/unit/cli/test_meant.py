"""The line that was meant, where `dlprof trace` does not know what was typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof import cli

_AFTER = "    (the script's own arguments come after --)"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a script, and a file that is none."""
    for name in ("tr.py", "c.yaml"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("--epochs 3 tr.py", f"tr.py -- --epochs 3{_AFTER}"),
        ("--config c.yaml tr.py --lr 1", f"tr.py -- --config c.yaml --lr 1{_AFTER}"),
        ("--epochs 3 --repeat 2 tr.py -- x", f"tr.py --repeat 2 -- --epochs 3 x{_AFTER}"),
        ("-m package.train --epochs 3", f"-m package.train -- --epochs 3{_AFTER}"),
        ("no-such --epochs 3", f"no-such -- --epochs 3{_AFTER}"),
        ("python tr.py", f"tr.py --python python{_AFTER}"),
        ("python3.11 -u tr.py --lr 1", f"tr.py --python python3.11 -- --lr 1{_AFTER}"),
        ("python -m package.train --lr 1", f"-m package.train --python python -- --lr 1{_AFTER}"),
        ("python -c pass", "--exec -- python -c pass"),
        ("--exec python tr.py", "--exec -- python tr.py"),
        ("tr.py --out after-omp", f"tr.py -o after-omp{_AFTER}"),
        ("tr.py --output-dir=runs/a", f"tr.py -o runs/a{_AFTER}"),
        ("tr.py --kernel=all -- --lr 1", f"tr.py --kernels=all -- --lr 1{_AFTER}"),
        ("tr.py --heads 8", f"tr.py -- --heads 8{_AFTER}"),
        ("tr.py --out x --lr 1", f"tr.py -- --out x --lr 1{_AFTER}"),
    ],
)
def test_the_line_that_was_meant_is_told(typed: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The script is the word that is one; Python, and options of ours that are spelt wrong, go where they belong."""
    with pytest.raises(SystemExit):
        cli.parse(["trace", *typed.split()])

    assert capsys.readouterr().err.splitlines()[-1] == f"  try: dlprof trace {meant}"
