"""Hints for exceptions, from their words: as torch and Triton write them on a GPU, too."""

from __future__ import annotations

import pytest

from grader.judge.explaining.hints import hint_of, message_of
from grader.judge.messages import Failure


def raised(kind: str, message: str, hint: str = "") -> Failure:
    return Failure(kind="exception", type=kind, message=message, hint=hint)


@pytest.mark.parametrize(
    ("kind", "message", "hint"),
    [
        ("RuntimeError", "Found no NVIDIA driver on your system. Please check", "device=x.device"),
        ("NotImplementedError", "Block pointers have been removed in favor of", "tl.make_tensor_descriptor"),
        ("AttributeError", "module 'triton.language' has no attribute 'advance'", "no block pointers"),
        ("OSError", "/tmp/a/solution.so: undefined symbol: solve", "does not define it"),
        (
            "ModuleNotFoundError",
            "No module named 'cupy'",
            "may import torch, triton and Python's standard library",
        ),
    ],
)
def test_an_exception_gets_its_hint(kind: str, message: str, hint: str) -> None:
    assert hint in hint_of(raised(kind, message))


def test_the_runners_own_hint_comes_first() -> None:
    failure = raised("LoadError", "The source defines no function 'solve'.", "Rename 'a' to 'solve'.")
    assert hint_of(failure).startswith("Rename 'a' to 'solve'. Coming from")
    assert hint_of(raised("ValueError", "no such case")) == ""


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "from 'triton' (/x/lib/python3.11/site-packages/triton/__init__.py)",
            "from 'triton' (triton/__init__.py)",
        ),
        ("/tmp/box-1/solution.so: undefined symbol: solve", "solution.so: undefined symbol: solve"),
        ("/usr/lib/python3.12/ast.py failed", "ast.py failed"),
        ("1/2 of /etc/hosts and a/b", "1/2 of /etc/hosts and a/b"),
    ],
)
def test_a_message_holds_no_platform_path(said: str, told: str) -> None:
    assert message_of(raised("OSError", said)) == told
