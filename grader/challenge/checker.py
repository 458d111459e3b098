"""The contract of ``check.py``, which a challenge has next to its reference if several answers are right.

``check(given, got, want)`` gets three dicts by argument name: the inputs, scalars and sizes of a case; the results that
a submission wrote; and the reference's results. Tensors have their arguments' shapes and dtypes. It returns None if the
results are right, or else why not: a sentence, or a tuple of the sentence, a result's name and an index in it.

It is asked only about results that differ from the reference's, and only if every element was written. It runs in a box
without the submission (``grader.judge.checker``).
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
    """``result``: the name of the wrong result, "" if unknown; ``index``: row-major, one number per dimension."""

    why: str
    result: str = ""
    index: tuple[int, ...] | None = None


Tensors = Mapping[str, "torch.Tensor"]
# Of inputs, scalars and sizes; of a submission's results; of the reference's.
Checker = Callable[[Mapping[str, Any], Tensors, Tensors], Refused | None]
