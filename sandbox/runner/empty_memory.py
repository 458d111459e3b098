"""Fills the memory that ``torch.empty`` returns.

It is mostly zeros, so a kernel that reads before writing looks right by luck.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable
from typing import Any

# NaN in every float format, and integers too large to count or index. Random, so no kernel computes these 16
# bytes.
PATTERN = b"".join(bytes((0x81 + byte % 0x7F, 0xFF)) for byte in os.urandom(8))
# Filling larger memory would commit its pages.
MOST_BYTES = 64 << 20

_MAKERS = ("empty", "empty_like", "empty_permuted", "empty_strided")
_METHODS = ("new_empty", "new_empty_strided")


def use() -> None:
    import torch

    for owner, names in ((torch, _MAKERS), (torch.Tensor, _METHODS)):
        for name in names:
            setattr(owner, name, _filling(getattr(owner, name), torch.Tensor))


def _filling(make: Callable[..., Any], tensor_class: Any) -> Callable[..., Any]:
    @functools.wraps(make)
    def made(*args: Any, **kwargs: Any) -> Any:
        tensor = make(*args, **kwargs)
        if type(tensor) is tensor_class and tensor.device.type == "cpu" and kwargs.get("out") is None:
            storage = tensor.untyped_storage()
            if storage.nbytes() <= MOST_BYTES:
                _fill(storage.data_ptr(), storage.nbytes())
        return tensor

    return made


def _fill(address: int, size: int) -> None:
    done = min(size, len(PATTERN))
    ctypes.memmove(address, PATTERN, done)
    while done < size:
        some = min(done, size - done)
        ctypes.memmove(address + done, address, some)
        done += some
