"""Hints for common exceptions, and messages without the platform's folders."""

from __future__ import annotations

import re

from grader.judge.messages import Failure
from grader.sandbox.compiler.explain import GUIDE

# The first match counts.
_HINTS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"Torch not compiled with CUDA enabled|Found no NVIDIA driver|No CUDA GPUs are available"),
        "This board has no GPU. Make tensors where the arguments are: device=x.device for an argument x of solve.",
    ),
    (
        re.compile(r"Block pointers have been removed|has no attribute '(?:make_block_ptr|advance)'"),
        "The version of Triton here has no block pointers: use pointers with tl.arange and a mask, or "
        "tl.make_tensor_descriptor. `grader show` names the version.",
    ),
    (
        re.compile(r"module 'triton[\w.]*' has no attribute|cannot import name '\w+' from 'triton"),
        "The version of Triton here does not have this. `grader show` names the version.",
    ),
    (
        re.compile(r"undefined symbol: (?!cu)"),
        "The source declares this function but does not define it: a submission is one file.",
    ),
    (
        re.compile(r"No module named '(?:task|utils|reference|eval)'"),
        f"A submission is one file with a function solve. {GUIDE}",
    ),
    (re.compile(r"^LoadError: The source defines no function|^LoadError: 'solve.*cannot be called"), GUIDE),
    (
        re.compile(r"^(?:ImportError|ModuleNotFoundError): "),
        "A submission may import torch, triton and Python's standard library.",
    ),
)
# Packages, Python, and the submission's folder.
_FOLDERS = re.compile(
    r"""(?<![^\s'"(])/(?:[^\s/'"():]+/)*(?:site-packages/|dist-packages/|python3\.\d+/|(?=solution\.(?:py|so)\b))"""
)


def hint_of(failure: Failure) -> str:
    said = f"{failure.type}: {failure.message}"
    known = next((hint for pattern, hint in _HINTS if pattern.search(said)), "")
    return " ".join(part for part in (failure.hint, known) if part)


def message_of(failure: Failure) -> str:
    return _FOLDERS.sub("", failure.message)
