"""Accepted files, and the message of each refusal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader import limits
from grader.challenge.source import check_taken, decode, language_of
from grader.errors import BadSource, UnknownLanguage
from grader.languages import LANGUAGES, Language


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "empty"),
        (b" \n\t\r\n", "empty"),
        (b"\x7fELF\0\0\0", "binary"),
        ("def solve(): pass".encode("utf-16"), "UTF-16"),
        (b"# fine\n# caf\xe9\n", "not UTF-8: byte 0xe9 in line 2"),
        (b"#" * (limits.SOURCE_BYTES + 1), "at most"),
    ],
)
def test_a_bad_source_is_refused_with_a_hint(raw: bytes, said: str) -> None:
    with pytest.raises(BadSource, match=said) as caught:
        decode(raw)
    assert caught.value.hint
    assert caught.value.status == 400


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"def solve(): pass", "def solve(): pass"),
        (b"\xef\xbb\xbfx = 1\r\n", "x = 1\r\n"),
        ("# größer ≤\n".encode(), "# größer ≤\n"),
        (b"#" * limits.SOURCE_BYTES, "#" * limits.SOURCE_BYTES),
    ],
)
def test_a_good_source_is_decoded(raw: bytes, text: str) -> None:
    assert decode(raw) == text


@pytest.mark.parametrize(
    ("filename", "chosen", "language"),
    [
        ("a.cu", None, Language.CUDA),
        ("dir.py/A.CU", None, Language.CUDA),
        ("a.cuh", None, Language.CUDA),
        ("a.py", None, Language.TRITON),
        ("a.txt", "triton", Language.TRITON),
        ("a.py", "cuda", Language.CUDA),
    ],
)
def test_the_language_follows_file_name_or_choice(
    filename: str, chosen: str | None, language: Language
) -> None:
    assert language_of(filename, chosen) is language


@pytest.mark.parametrize(
    ("filename", "chosen"), [("a.txt", None), ("solve", None), ("a.py", "rust"), ("a.py", "")]
)
def test_an_unknown_language_is_refused(filename: str, chosen: str | None) -> None:
    with pytest.raises(UnknownLanguage) as caught:
        language_of(filename, chosen)
    assert caught.value.message
    assert caught.value.hint


def test_the_longest_file_suffix_decides_the_language(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = replace(Language.TRITON, value="torch", suffixes=(".torch.py",))
    monkeypatch.setitem(LANGUAGES, "torch", torch)
    assert language_of("a.torch.py", None) is torch
    assert language_of("A.TORCH.PY", None) is torch
    assert language_of("torch.py", None) is Language.TRITON
    assert Language.of_file(".torch.py") is Language.TRITON
    assert Language.of_file(".py") is None


def test_a_challenge_takes_only_its_languages() -> None:
    check_taken("scan", [Language.CUDA], Language.CUDA)
    with pytest.raises(UnknownLanguage, match=r"scan does not take triton\.") as caught:
        check_taken("scan", [Language.CUDA], Language.TRITON)
    assert caught.value.hint == "It takes: cuda."
