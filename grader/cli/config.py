"""The client's settings: a file, which the environment overrides, which flags override.

No pathlib, no dataclasses and no TOML parser until there is a file: the quick way of `grader challenges --json` reads
this too.
"""

from __future__ import annotations

import os
import sys

from grader.errors import BadRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Value = str | bool


class Key:
    """One setting. ``choices``: asked for when a value is checked, none for any text; ``of_bool``: true or false."""

    def __init__(
        self,
        meaning: str,
        default: Value,
        *,
        choices: Callable[[], tuple[str, ...]] = tuple,
        of_bool: bool = False,
    ) -> None:
        self.meaning = meaning
        self.default = default
        self.choices = choices
        self.of_bool = of_bool


def _languages() -> tuple[str, ...]:
    # Late: most commands start without the table.
    from grader.languages import Language

    return tuple(it.value for it in Language)


# The variable of `name` is GRADER_NAME, but for those that the platform's own settings have taken.
KEYS = {
    "server": Key("the server's address", ""),
    "device": Key("the device whose board submit and leaderboard use", ""),
    "language": Key("the language that init writes", "", choices=_languages),
    "browser": Key("whether login and open may open a browser", True, of_bool=True),
}
_VARIABLES = {"device": "GRADER_CLIENT_DEVICE", "language": "GRADER_CLIENT_LANGUAGE"}
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")

_flags: dict[str, Value] = {}


class Setting:
    """A setting's value, and where it comes from: ``flag``, ``environment``, ``file`` or ``default``."""

    def __init__(self, name: str, value: Value, source: str, place: str = "") -> None:
        self.name = name
        self.value = value
        self.source = source
        self.place = place


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return _VARIABLES.get(name, f"GRADER_{name.upper()}")


def folder() -> str:
    """Where this system keeps a program's settings; XDG_CONFIG_HOME is heard on all of them."""
    home = os.path.expanduser("~")  # noqa: PTH111
    if base := os.environ.get("XDG_CONFIG_HOME"):
        return os.path.join(base, "grader")  # noqa: PTH118
    if sys.platform == "win32":
        return os.path.join(os.environ.get("APPDATA") or os.path.join(home, "AppData", "Roaming"), "grader")  # noqa: PTH118
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support", "grader")  # noqa: PTH118
    return os.path.join(home, ".config", "grader")  # noqa: PTH118


def path() -> str:
    """The file of settings."""
    return os.path.join(folder(), "config.toml")  # noqa: PTH118


def choose(name: str, value: Value) -> None:
    """What a flag said: the strongest, until this process ends."""
    _flags[name] = value


def forget_flags() -> None:
    """Each command line has its own."""
    _flags.clear()


def value(name: str) -> Value:
    """What holds. Raises BadRequest naming the variable, or the file with line and key."""
    return find(name).value


def text(name: str) -> str | None:
    """A setting of text; None where nobody said anything."""
    return str(value(name)) or None


def find(name: str) -> Setting:
    """The strongest word on a setting. Raises BadRequest as ``value`` does."""
    if name in _flags:
        return Setting(name, _flags[name], "flag", f"--{name}")
    if told := os.environ.get(variable(name)):
        return Setting(name, parsed(name, told, variable(name)), "environment", variable(name))
    kept = _read()
    if name in kept:
        return Setting(name, kept[name], "file", path())
    return Setting(name, KEYS[name].default, "default")


def parsed(name: str, told: str, where: str) -> Value:
    """``told`` as a value of that setting. Raises BadRequest beginning with ``where``."""
    key = KEYS[name]
    if key.of_bool:
        if told.lower() not in _TRUE + _FALSE:
            raise BadRequest(f"{where}: '{told}' is neither true nor false.", f"It says {key.meaning}.")
        return told.lower() in _TRUE
    if (choices := key.choices()) and told not in choices:
        raise BadRequest(f"{where}: '{told}' cannot be used.", f"There are: {', '.join(choices)}.")
    return told


def _read() -> dict[str, Value]:
    """The file's settings; none where there is no file."""
    try:
        with open(path(), "rb") as file:  # noqa: PTH123
            raw = file.read()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadRequest(f"{path()} cannot be read: {error.strerror}.", "Mend or remove it.") from error
    import tomllib

    try:
        found = tomllib.loads(raw.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadRequest(f"{path()}: {error}", 'A line is like: server = "https://grader.example"') from error
    return _checked(found, raw.decode("utf-8-sig"))


def _checked(found: Mapping[str, object], raw: str) -> dict[str, Value]:
    kept: dict[str, Value] = {}
    for name, told in found.items():
        where = f"{path()}, line {line_of(name, raw)}, {name}"
        if name not in KEYS:
            raise unknown(name, where)
        if KEYS[name].of_bool is not isinstance(told, bool) or not isinstance(told, (bool, str)):
            wanted = "true or false" if KEYS[name].of_bool else 'text, in "quotes"'
            raise BadRequest(f"{where}: it must be {wanted}.", f"It says {KEYS[name].meaning}.")
        kept[name] = told if isinstance(told, bool) else parsed(name, told, where)
    return kept


def unknown(name: str, where: str = "") -> BadRequest:
    """The refusal of a setting that there is not."""
    from difflib import get_close_matches

    close = get_close_matches(name, KEYS, n=1)
    hint = f"Did you mean '{close[0]}'?" if close else f"There are: {', '.join(KEYS)}."
    return BadRequest(
        f"{where}: there is no such setting." if where else f"There is no setting '{name}'.", hint
    )


def line_of(name: str, raw: str) -> int:
    """The line in which a setting is given, counted from 1; 1 where it is not found (a table, a quoted key)."""
    for number, line in enumerate(raw.splitlines(), start=1):
        if line.partition("=")[0].strip().strip("\"'[]") == name:
            return number
    return 1
