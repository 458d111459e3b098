"""The commands, from Typer's Click tree."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer

from grader.cli.command import load
from grader.cli.registry import GROUPS
from grader.manual.markup import code, table, unwrapped
from references.markdown import page

ABOUT = (
    "After this page you know every command with its arguments and options, as `grader COMMAND --help` has them. "
    "[Using the command line](../command-line.md) says what they share: signing in, settings, JSON, exit codes."
)
HEADS = ("option", "meaning", "default")
_NAMES = {int: "INTEGER", float: "NUMBER", Path: "PATH"}


def make() -> str:
    return page("Commands", ABOUT, _parts())


def _parts() -> Iterator[str]:
    for title, commands in GROUPS.items():
        yield f"## {title}"
        yield table(
            ("command", "what it does"),
            ((f"[`grader {name}`](#grader-{name})", told) for name, (_, told) in commands.items()),
        )
        for name in commands:
            yield from _command(f"grader {name}", _found(name))


def _found(name: str) -> Any:
    group: Any = typer.main.get_command(load(name))
    return group.commands[name]


def _command(path: str, command: Any) -> Iterator[str]:
    if command.hidden:
        return
    yield f"### {path}"
    yield unwrapped(command.help or command.short_help or "")
    yield from _parameters(path, command)
    for name, each in getattr(command, "commands", {}).items():
        yield from _command(f"{path} {name}", each)


def _parameters(path: str, command: Any) -> Iterator[str]:
    """Nothing for a group that does nothing by itself."""
    shown = [each for each in command.params if not getattr(each, "hidden", False) and each.name != "help"]
    if shown or not hasattr(command, "commands"):
        yield f"```sh\n{_usage(path, command)}\n```"
        yield table(HEADS, (_row(each, command) for each in shown))


def _usage(path: str, command: Any) -> str:
    words = [_argument(each, command) for each in command.params if _is_argument(each)]
    options = any(not _is_argument(each) for each in command.params)
    return " ".join([path, *words, *(["[OPTIONS]"] if options else [])])


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def _argument(argument: Any, command: Any) -> str:
    name = _value(argument, command).removesuffix("...").strip("[]")
    name += "..." if argument.nargs != 1 else ""
    return name if argument.required else f"[{name}]"


def _row(parameter: Any, command: Any) -> tuple[str, str, str]:
    about = unwrapped(parameter.help or "")
    if _is_argument(parameter):
        return code(_argument(parameter, command)), about, ""
    names = ", ".join(code(name) for name in (*parameter.opts, *parameter.secondary_opts))
    value = "" if parameter.is_flag else f" {code(_value(parameter, command))}"
    return names + value, about, "needed" if parameter.required else _default(parameter)


def _value(parameter: Any, command: Any) -> str:
    """The value's placeholder: metavar, choices or type."""
    if parameter.metavar:
        return str(parameter.metavar)
    if _is_argument(parameter):
        return str(parameter.name).upper()
    # How Click keeps a parameter's type differs between releases.
    return _of_type(get_type_hints(command.callback, include_extras=True).get(parameter.name, str))


def _of_type(hint: Any) -> str:
    if get_origin(hint) in (Annotated, list, Union, UnionType):
        return _of_type(next(each for each in get_args(hint) if each is not type(None)))
    if get_origin(hint) is Literal:
        return "|".join(str(each) for each in get_args(hint))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return "|".join(str(each.value) for each in hint)
    return _NAMES.get(hint, "TEXT")


def _default(parameter: Any) -> str:
    """Empty for flags that are off and computed values."""
    value = parameter.default
    if value is None or callable(value) or value is False or value in ((), [], ""):
        return ""
    if value is True:
        return code(parameter.opts[0])
    return code(f"{value:g}" if isinstance(value, float) else getattr(value, "value", value))
