from __future__ import annotations

from ..names import ASYNC
from ..ptx import number
from .kernel import Kernel


def asynchronous(k: Kernel, kind: str, **fields: int) -> None:
    k.control("ASYNC", size=ASYNC[kind], **fields)


def wide_register(k: Kernel, text: str) -> int:
    if k.width(text) != 8:
        raise ValueError(f"{text} is no register of 64 bits")
    return k.register(text)


def wide_value(k: Kernel, text: str) -> int:
    return k.value(text, "b64") if number(text) is not None else wide_register(k, text)
