"""Every command with its options and what each takes, read from the Typer apps."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from typer.main import get_command

from grader.cli import names
from grader.cli.command import load
from grader.cli.registry import COMMANDS

FILES = "files"
# What a placeholder in a command's help stands for.
_KINDS = {
    "SLUG": (names.CHALLENGES,),
    "ID": (names.SUBMISSIONS,),
    "ID|SLUG": (names.SUBMISSIONS, names.CHALLENGES),
    "FILE": (FILES,),
    "A": (names.SUBMISSIONS, FILES),
    "B": (names.SUBMISSIONS, FILES),
}


@dataclass(frozen=True)
class Taken:
    """What may stand at a place: words, and kinds of names (``files``, or a list of ``names``)."""

    words: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Option:
    """``spellings``: all of one option; ``takes`` is none for a switch."""

    spellings: tuple[str, ...]
    help: str
    takes: Taken | None


@dataclass(frozen=True)
class Place:
    """A command, or a group of commands (``takes.words`` are those in it), by its words after `grader`."""

    path: str
    help: str
    takes: Taken
    options: tuple[Option, ...] = ()


def places() -> list[Place]:
    """Every command and group, `grader` itself (the empty path) first."""
    found = [Place("", "", Taken((*COMMANDS, "help")))]
    for name, (_, help_line) in COMMANDS.items():
        with contextlib.suppress(ModuleNotFoundError):  # a part that is not installed here
            command: Any = get_command(load(name))
            found += _below(name, command.commands[name], help_line)
    return found


def _below(path: str, command: Any, help_line: str) -> Iterator[Place]:
    inside: dict[str, Any] = getattr(command, "commands", {})
    options = tuple(_options(command))
    takes = Taken(tuple(inside)) if inside else _argument(command)
    yield Place(path, help_line, takes, options)
    for name, each in inside.items():
        yield from _below(f"{path} {name}", each, _first_sentence(each.help))


def _options(command: Any) -> Iterator[Option]:
    for parameter in command.params:
        if parameter.param_type_name == "option" and not parameter.hidden and parameter.name != "help":
            spellings = (*parameter.opts, *parameter.secondary_opts)
            takes = None if parameter.is_flag else _taken(parameter)
            yield Option(spellings, _first_sentence(parameter.help), takes)
    yield Option(("--help",), "Show this message.", None)


def _argument(command: Any) -> Taken:
    """What the arguments take: all kinds together, because places are not counted."""
    found = [_taken(it) for it in command.params if it.param_type_name == "argument"]
    words = tuple(word for each in found for word in each.words)
    return Taken(words, tuple(dict.fromkeys(kind for each in found for kind in each.kinds)))


def _taken(parameter: Any) -> Taken:
    if choices := _choices(parameter):
        return Taken(choices)
    told = str(parameter.metavar or "").strip("[]")
    if told in _KINDS:
        return Taken(kinds=_KINDS[told])
    if "|" in told and told == told.lower():
        return Taken(tuple(told.split("|")))
    return Taken()


def _choices(parameter: Any) -> tuple[str, ...]:
    """Of a Literal. Releases of Typer differ in where they keep it."""
    choices = getattr(getattr(parameter, "type", None), "choices", ())
    annotation = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    if not choices and get_origin(annotation) is Literal:
        choices = get_args(annotation)
    return tuple(str(choice) for choice in choices)


def _first_sentence(text: str | None) -> str:
    return " ".join((text or "").split()).partition(". ")[0].rstrip(".")
