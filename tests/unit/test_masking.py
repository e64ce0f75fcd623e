"""Secrets on command lines are hidden, and only they."""

from __future__ import annotations

import pytest
from dlprof_probes import masking


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("--token", "abc123x"), ("--token", "***")),
        (("--api-key=abc", "--epochs", "3"), ("--api-key=***", "--epochs", "3")),
        (("-password", "hunter2"), ("-password", "***")),
        (("--wandb-api-key", "0123456789"), ("--wandb-api-key", "***")),
        (("DB_PASSWORD=x y", "run"), ("DB_PASSWORD=***", "run")),
        (("--token", "--verbose"), ("--token", "--verbose")),
        (("--secret",), ("--secret",)),
    ],
)
def test_the_value_after_a_name_of_a_secret_is_hidden(command: tuple[str, ...], told: tuple[str, ...]) -> None:
    """Whether it is a word of its own or not; a flag behind a flag is no value."""
    assert masking.words(command) == told


@pytest.mark.parametrize(
    "command",
    [
        ("--max-tokens", "512"),
        ("--pad-token-id", "0"),
        ("--tokenizer", "bert-base"),
        ("--mask-token", "[MASK]"),
        ("--eos-token", "<|endoftext|>"),
        ("--use-cls-token=true",),
        ("--key", "value"),
        ("--passes", "3"),
        ("ssh://git@host/x.git",),
        ("--lr", "0.1", "data/train.csv", "C:\\temp", "a@b.c"),
        ("s3://bucket/keys/token.txt",),
    ],
)
def test_words_of_machine_learning_are_no_secrets(command: tuple[str, ...]) -> None:
    """Tokens of a text, their numbers and markers stay as they are, and so do paths and addresses."""
    assert masking.words(command) == command


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("https://me:pw@host/x", "https://me:***@host/x"),
        ("https://me:p@w@host/x", "https://me:***@host/x"),
        ("https://0a1b2c3d@host", "https://***@host"),
        ("postgresql+psycopg://u:p@db:5432/x", "postgresql+psycopg://u:***@db:5432/x"),
        ("https://h/x?a=1&sig=abc%2F&b=2", "https://h/x?a=1&sig=***&b=2"),
        ("https://h/x?X-Amz-Signature=ab", "https://h/x?X-Amz-Signature=***"),
        ('{"password": "a b", "epochs": 3}', '{"password": ***, "epochs": 3}'),
        ("sh -c 'train --token abc9x --lr 1'", "sh -c 'train --token *** --lr 1'"),
        ("Authorization: Bearer abcdefgh.ijk", "Authorization: *** ***"),
        ("key AKIAABCDEFGHIJKLMNOP end", "key *** end"),
        ("hf_abcdefghijklmnopqrstuv", "***"),
    ],
)
def test_secrets_inside_a_text_are_hidden(told: str, expected: str) -> None:
    """In URLs, in JSON, in a command of a shell, and by their form."""
    assert masking.text(told) == expected


def test_a_long_text_takes_linear_time() -> None:
    """A megabyte of what looks like the beginning of a secret's name is passed through, not searched again and again."""
    long = "api-" * 50_000
    assert masking.text(long) == long
