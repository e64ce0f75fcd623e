"""Which processor this machine has."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.launch import processor

TEXT = "processor\t: 0\nmodel name\t: Some CPU @ 2.0GHz\nflags\t\t: fpu avx2 avx512f\n\nprocessor\t: 1\nmodel name\t: Other\n"


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A kernel that says this."""
    told(monkeypatch, tmp_path, TEXT)


def told(monkeypatch: pytest.MonkeyPatch, folder: Path, text: str) -> None:
    """Have the kernel say so."""
    (folder / "cpuinfo").write_text(text)
    monkeypatch.setattr(processor, "_CORES", folder / "cpuinfo")


def test_its_name_is_that_of_the_first_core(kernel: None) -> None:
    """They are alike where it matters."""
    assert processor.name() == "Some CPU @ 2.0GHz"


@pytest.mark.parametrize(("feature", "there"), [("avx512f", True), ("avx512", False), ("sse9", False)])
def test_sets_of_instructions_are_whole_words(kernel: None, feature: str, there: bool) -> None:
    """As the kernel lists them."""
    assert processor.has(feature) is there


def test_a_kernel_that_says_nothing_has_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Another system."""
    monkeypatch.setattr(processor, "_CORES", tmp_path / "absent")

    assert not processor.has("avx512f")


@pytest.mark.parametrize(
    ("line", "floats"),
    [
        ("flags\t\t: fpu avx2 avx512f", []),
        ("flags\t\t: avx512_bf16", ["bfloat16"]),
        ("flags\t\t: avx512f avx512bw avx512vl", ["bfloat16"]),
        ("flags\t\t: amx_bf16 avx512_fp16 amx_fp16", ["float16", "bfloat16"]),
        ("Features\t: fp asimd asimdhp", ["float16"]),
        ("model name\t: no list of instructions", None),
    ],
)
def test_floats_of_16_bits_that_it_computes_with(
    line: str, floats: list[str] | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By its sets of instructions, which ARM calls features; where none are told it is not known."""
    told(monkeypatch, tmp_path, line + "\n")

    assert processor.half_floats() == floats
