"""Settings: the client's from flags, environment or file; the platform's from the environment.

`grader challenges --json` must start fast: imports of pathlib, pydantic and the TOML parser are late.
"""

from __future__ import annotations

import os
import sys

from grader.errors import BadRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from grader.settings import Settings

Value = str | bool


class Key:
    """Without ``choices``, any text. ``of_bool``: true or false."""

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
    from grader.languages import Language

    return tuple(language.value for language in Language)


KEYS = {
    "server": Key("the server's address", ""),
    "device": Key("the device whose board submit and leaderboard use", ""),
    "language": Key("the language that init writes", "", choices=_languages),
    "browser": Key("whether login and open may open a browser", True, of_bool=True),
}
# GRADER_DEVICE and GRADER_LANGUAGE would be the platform's.
_VARIABLES = {"device": "GRADER_CLIENT_DEVICE", "language": "GRADER_CLIENT_LANGUAGE"}
# platformdirs takes 20 of the 30 ms of `grader challenges --json`.
_WITH_OWN_FOLDERS = ("darwin", "win32")
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")

_flags: dict[str, Value] = {}


class Setting:
    def __init__(self, name: str, value: Value, source: str, place: str = "") -> None:
        self.name = name
        self.value = value
        self.source = source
        self.place = place


def variable(name: str) -> str:
    return _VARIABLES.get(name, f"GRADER_{name.upper()}")


def folder() -> str:
    """XDG_CONFIG_HOME counts on all systems."""
    if base := os.environ.get("XDG_CONFIG_HOME"):
        return os.path.join(base, "grader")  # noqa: PTH118
    if sys.platform in _WITH_OWN_FOLDERS:
        from platformdirs import user_config_dir

        return user_config_dir("grader", appauthor=False, roaming=True)
    return os.path.join(os.path.expanduser("~"), ".config", "grader")  # noqa: PTH111, PTH118


def cache_folder() -> str:
    """XDG_CACHE_HOME counts on all systems."""
    if base := os.environ.get("XDG_CACHE_HOME"):
        return os.path.join(base, "grader")  # noqa: PTH118
    if sys.platform in _WITH_OWN_FOLDERS:
        from platformdirs import user_cache_dir

        return user_cache_dir("grader", appauthor=False)
    return os.path.join(os.path.expanduser("~"), ".cache", "grader")  # noqa: PTH111, PTH118


def path() -> str:
    return os.path.join(folder(), "config.toml")  # noqa: PTH118


def choose(name: str, value: Value) -> None:
    """Overrides environment and file until this process ends."""
    _flags[name] = value


def forget_flags() -> None:
    _flags.clear()


def value(name: str) -> Value:
    """Raises BadRequest naming the variable, or the file with line and key."""
    return find(name).value


def text(name: str) -> str | None:
    return str(value(name)) or None


def find(name: str) -> Setting:
    """Raises BadRequest as ``value``."""
    if name in _flags:
        return Setting(name, _flags[name], "flag", f"--{name}")
    if given := os.environ.get(variable(name)):
        return Setting(name, parsed(name, given, variable(name)), "environment", variable(name))
    kept = _read()
    if name in kept:
        return Setting(name, kept[name], "file", path())
    return Setting(name, KEYS[name].default, "default")


def parsed(name: str, given: str, where: str) -> Value:
    """Raises BadRequest whose message begins with ``where``."""
    key = KEYS[name]
    if key.of_bool:
        if given.lower() not in _TRUE + _FALSE:
            raise BadRequest(f"{where}: '{given}' is neither true nor false.", f"It is {key.meaning}.")
        return given.lower() in _TRUE
    if name == "server" and given:
        _refuse_no_address(given, where)
    if (choices := key.choices()) and given not in choices:
        raise BadRequest(f"{where}: '{given}' cannot be used.", f"Use one of: {', '.join(choices)}.")
    return given


def _refuse_no_address(given: str, where: str) -> None:
    scheme, _, rest = given.partition("://")
    if scheme.lower() not in ("http", "https") or not rest.strip("/"):
        raise BadRequest(
            f"{where}: '{given}' is not a server address.", "One looks like https://grader.example."
        )


def unknown(name: str, where: str = "") -> BadRequest:
    from difflib import get_close_matches

    close = get_close_matches(name, KEYS, n=1)
    hint = f"Did you mean '{close[0]}'?" if close else f"The settings are: {', '.join(KEYS)}."
    return BadRequest(
        f"{where}: there is no such setting." if where else f"There is no setting '{name}'.", hint
    )


def put(name: str, given: str) -> Value:
    """Comments and other lines stay. Raises BadRequest."""
    import json

    if name not in KEYS:
        raise unknown(name)
    value = parsed(name, given, name)
    line = f"{name} = {json.dumps(value, ensure_ascii=False)}"
    lines = _lines()
    if at := _lines_of(name, lines):
        lines[at[0]] = line
    else:
        lines.append(line)
    _write(lines)
    return value


def take(name: str) -> bool:
    """False if it is missing. Raises BadRequest."""
    if name not in KEYS:
        raise unknown(name)
    lines = _lines()
    at = _lines_of(name, lines)
    if at:
        _write([line for number, line in enumerate(lines) if number not in at])
    return bool(at)


def _read() -> dict[str, Value]:
    try:
        with open(path(), "rb") as file:  # noqa: PTH123
            raw = file.read()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadRequest(f"{path()} cannot be read: {error.strerror}.", "Fix or remove it.") from error
    import tomllib

    try:
        found = tomllib.loads(raw.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadRequest(
            f"{path()}: {error}", 'A line looks like: server = "https://grader.example"'
        ) from error
    return _checked(found, raw.decode("utf-8-sig"))


def _checked(found: Mapping[str, object], raw: str) -> dict[str, Value]:
    kept: dict[str, Value] = {}
    for name, given in found.items():
        where = f"{path()}, line {line_of(name, raw)}, {name}"
        if name not in KEYS:
            raise unknown(name, where)
        if KEYS[name].of_bool is not isinstance(given, bool) or not isinstance(given, (bool, str)):
            wanted = "true or false" if KEYS[name].of_bool else 'text, in "quotes"'
            raise BadRequest(f"{where}: it must be {wanted}.", f"It is {KEYS[name].meaning}.")
        kept[name] = given if isinstance(given, bool) else parsed(name, given, where)
    return kept


def line_of(name: str, raw: str) -> int:
    """1 if it is not found (a table, a quoted key)."""
    for number, line in enumerate(raw.splitlines(), start=1):
        if line.partition("=")[0].strip().strip("\"'[]") == name:
            return number
    return 1


def _lines() -> list[str]:
    try:
        with open(path(), encoding="utf-8-sig") as file:  # noqa: PTH123
            return file.read().splitlines()
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{path()} cannot be read: {error}", "Fix or remove it.") from error


def _lines_of(name: str, lines: list[str]) -> list[int]:
    return [
        number
        for number, line in enumerate(lines)
        if "=" in line and line.partition("=")[0].strip().strip("\"'") == name
    ]


def _write(lines: list[str]) -> None:
    """Atomically: another command may read the file meanwhile."""
    from pathlib import Path

    target = Path(path())
    partial = target.with_name(f"{target.name}.{os.getpid()}")
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        partial.replace(target)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise BadRequest(f"{target} cannot be written: {error.strerror}.") from error


def load_settings(**chosen: Any) -> Settings:
    """Imported late: most commands need no platform."""
    from grader import settings

    return settings.load_settings(**chosen)


def environment(settings: Settings) -> dict[str, str]:
    """For a child process. Settings of several parts come from the environment anyway."""
    spelled = {
        f"GRADER_{name.upper()}": str(value)
        for name, value in settings.model_dump(exclude={"oidc"}).items()
        if value is not None
    }
    return {**os.environ, **spelled}
