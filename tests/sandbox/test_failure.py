"""The runner describes any exception of a submission in a form that the judge accepts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader import limits
from grader.judge.messages import Failure
from grader.sandbox.image import PROGRAMS, RUNNER_MOUNT


@pytest.fixture
def described(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], Failure]:
    monkeypatch.syspath_prepend(str(PROGRAMS[RUNNER_MOUNT]))
    import failure

    def describe(error: BaseException) -> Failure:
        try:
            raise error
        except BaseException as raised:
            body = json.dumps(failure.describe(raised), ensure_ascii=False).encode()
        assert len(body) < limits.MESSAGE_BYTES - limits.KIB  # the message's other fields need little
        return Failure.model_validate_json(body)

    return describe


def _mute() -> Exception:
    """Every access to it raises. Made here, because pytest also accesses objects in a module."""

    class Nameless(type):
        @property
        def __name__(cls) -> str:  # type: ignore[override]
            raise SystemExit

    class Mute(Exception, metaclass=Nameless):
        def __str__(self) -> str:
            raise KeyboardInterrupt

        def __getattr__(self, name: str) -> Any:
            raise SystemExit

        @property
        def __class__(self) -> type:  # type: ignore[override]
            raise ValueError

    return Mute()


def _odd() -> Exception:
    """Its strings are of a subclass, and its hint is no string."""

    class Text(str):
        def __getitem__(self, place: Any) -> str:
            raise ValueError

        def __len__(self) -> int:
            raise ValueError

    class Odd(Exception):
        hint = 3

        def __str__(self) -> str:
            return Text("its words")

    return Odd()


def _in_a_circle() -> Exception:
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one
    return one


def _at_line(line: Any) -> SyntaxError:
    error = SyntaxError("no syntax")
    error.lineno = line
    return error


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (_mute, "Mute", "(its message cannot be shown: str() of it fails)"),
        (_odd, "Odd", "its words"),
        (_in_a_circle, "ValueError", "one"),
        (
            lambda: ValueError("half \ud800, none \0, moved \x1b[2J"),
            "ValueError",
            r"half \ud800, none \x00, moved \x1b[2J",
        ),
        (MemoryError, "MemoryError", ""),
        (lambda: SystemExit(3), "SystemExit", "3"),
    ],
)
def test_an_odd_exception_is_described(
    described: Callable[[BaseException], Failure], make: Callable[[], BaseException], kind: str, message: str
) -> None:
    found = described(make())
    assert (found.type, found.message) == (kind, message)


@pytest.mark.parametrize("letter", ["x", "\N{GRINNING FACE}", "\0", '"', "\ud800"])
def test_huge_texts_and_names_are_cut(described: Callable[[BaseException], Failure], letter: str) -> None:
    kind = type(
        "A\n" + (letter if letter.isprintable() else "x") * 300, (Exception,), {"hint": letter * 5000}
    )
    found = described(kind(letter * (1 << 20)))
    assert len(found.type) == 200
    assert "\n" not in found.type
    assert len(found.message) == 4000
    assert found.message.endswith("…")


@pytest.mark.parametrize(
    ("line", "told"), [(7, 7), (-5, None), (0, None), (2**40, None), (True, None), ("7", None)]
)
def test_a_nonexistent_line_is_left_out(
    described: Callable[[BaseException], Failure], line: Any, told: int | None
) -> None:
    assert described(_at_line(line)).line == told


def test_deep_recursion_reports_the_last_frames_of_the_source(
    described: Callable[[BaseException], Failure], tmp_path: Path
) -> None:
    path = tmp_path / "solution.py"
    path.write_text("def deep(n):\n    return deep(n - 1) if n else 1 / 0\n")
    names: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    with pytest.raises(ZeroDivisionError) as caught:
        names["deep"](500)
    found = described(caught.value)
    assert found.line == 2
    assert 10 < found.trace.count("line 2 in deep: return deep(n - 1)") <= 64


@pytest.mark.parametrize("broken", ["", "line\n" * 5000 + "KeyError: 'reason'"])
def test_messages_of_the_emulated_gpu_are_bounded(monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    """Our own exception keeps its end, which names it; other sentences keep their beginning."""
    monkeypatch.syspath_prepend(str(PROGRAMS[RUNNER_MOUNT]))
    import emulated

    unknown = emulated.part("lower").Unsupported("mov." + "x" * 20_000, emulated.part("ptx").Place(1, 3))
    returned = SimpleNamespace(broken=broken, unsupported=unknown)
    found = Failure.model_validate(emulated.failure_of(returned))
    assert found.kind == ("ours" if broken else "checker")
    assert "KeyError: 'reason'" in found.message if broken else "'mov.xx" in found.message
