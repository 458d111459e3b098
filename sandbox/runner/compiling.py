"""Reports compilations and tuning of Triton and CuTe DSL, whose time limit is apart from the call's.

A submission can forge these reports, so the judge bounds that time.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

# Nothing that means something to a page or terminal.
_FORBIDDEN = re.compile(r"[^A-Za-z0-9_.<>=, ]")
_TEXT_CHARS = 160
_CONSTANTS = 6

# Gets a description, and None at the end.
Report = Callable[[str | None], None]


class _Watch:
    """Of nested compilations, the outermost."""

    def __init__(self) -> None:
        self._report: Report | None = None
        self._thread = 0
        self._depth = 0

    def start(self, report: Report) -> None:
        self._report, self._thread, self._depth = report, threading.get_ident(), 0

    def stop(self) -> None:
        self._report = None

    @contextlib.contextmanager
    def during(self, what: str) -> Iterator[None]:
        if self._report is None or threading.get_ident() != self._thread:
            yield
            return
        self._depth += 1
        self._report(_FORBIDDEN.sub("", what)[:_TEXT_CHARS] or "kernel")
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0 and self._report is not None:
                self._report(None)


_watch = _Watch()
start, stop = _watch.start, _watch.stop


def watch_triton() -> None:
    """Does nothing in a Triton with other internals."""
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    _wrap(JITFunction, "_do_compile", _compiled)
    _wrap(
        Autotuner,
        "_bench",
        lambda this, *_, **__: f"{_name(getattr(this, 'base_fn', this))} while it is tuned",
    )


def watch_cute() -> None:
    from cutlass.base_dsl.dsl import BaseDSL

    # A call of a compiled function only traces it.
    _wrap(BaseDSL, "_compile_or_jit_module", lambda this, *_, **__: _name(getattr(this, "funcBody", None)))


def _wrap(kind: Any, method: str, describe: Callable[..., str]) -> None:
    original = getattr(kind, method, None)
    if original is None:
        return

    def watched(this: Any, *args: Any, **kwargs: Any) -> Any:
        with _watch.during(describe(this, *args, **kwargs)):
            return original(this, *args, **kwargs)

    setattr(kind, method, watched)


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", "kernel"))


def _compiled(this: Any, *args: Any, **kwargs: Any) -> str:
    """For example ``softmax for BLOCK=524288, num_warps=4``."""
    text = _name(this)
    with contextlib.suppress(Exception):  # another Triton: the name alone
        _key, _signature, _device, constants, options = args[:5]
        names = list(this.arg_names)
        shown = {
            names[path[0] if isinstance(path, tuple) else path]: value
            for path, value in constants.items()
            if isinstance(value, (int, str))
        }
        shown["num_warps"] = options.num_warps
        text += " for " + ", ".join(f"{name}={value}" for name, value in list(shown.items())[-_CONSTANTS:])
    return text
