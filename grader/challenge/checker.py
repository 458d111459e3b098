"""The contract of ``check.py``, for challenges with several right answers.

``check(given, got, want)`` gets three dicts by argument name: inputs, scalars and sizes; a submission's
results; the reference's. It returns None if the results are right, or else why not: a sentence, or a tuple of
the sentence, a result's name and an index in it.

It gets only results that differ from the reference's, with every element written, in a box without the
submission (``grader.judge.checker``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

CHECKER = "check.py"


@dataclass(frozen=True)
class Refused:
    """``result``: the wrong one, "" if unknown; ``index``: row-major, one number per dimension."""

    why: str
    result: str = ""
    index: tuple[int, ...] | None = None


Tensors = Mapping[str, "torch.Tensor"]
Checker = Callable[[Mapping[str, Any], Tensors, Tensors], Refused | None]
