"""The table of commands, from which `grader --help` is printed, and the Typer apps say the same."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys
from typing import Any

import pytest
from typer.main import get_command

import grader.cli.commands
from grader.cli.command import load
from grader.cli.main import listing
from grader.cli.registry import COMMANDS
from tests.cli.conftest import Cli


def _commands(name: str) -> dict[str, str]:
    group = get_command(load(name))
    return {key: (command.help or "") for key, command in group.commands.items()}  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_listed_command_exists_with_that_help(name: str) -> None:
    told = _commands(name)[name]
    if told.startswith("Manage"):
        assert COMMANDS[name][1].startswith(told.rstrip("."))
    else:
        assert told.startswith(COMMANDS[name][1].partition(";")[0].partition(":")[0])


def test_every_command_is_listed() -> None:
    modules = {module for module, _ in COMMANDS.values()}
    assert modules == {info.name for info in pkgutil.iter_modules(grader.cli.commands.__path__)}
    found = set()
    for module in modules:
        app = importlib.import_module(f"grader.cli.commands.{module}").app
        found |= set(get_command(app).commands)  # type: ignore[attr-defined]
    assert found == set(COMMANDS)


def test_groups_are_listed_with_their_commands() -> None:
    for name in ("user", "sandbox", "db"):
        group = get_command(load(name)).commands[name]  # type: ignore[attr-defined]
        told = COMMANDS[name][1].partition(": ")[2].split(", ")
        there = [f"{name} {inner}" for inner in group.commands]
        assert told == ([*there[: len(told) - 1], "..."] if told[-1] == "..." else there)


def test_every_command_of_a_server_takes_its_address() -> None:
    """All commands of a group do, also those that connect by way of a helper."""
    lacking = []
    for name in COMMANDS:
        if name in (
            "challenge",
            "login",
            "logout",
            "up",
            "user",
            "sandbox",
            "db",
            "admin",
            "test",
            "profile",
        ):
            continue  # they act on this machine, too; `login --server` keeps the address
        found = get_command(load(name)).commands[name]  # type: ignore[attr-defined]
        for inner, each in getattr(found, "commands", {"": found}).items():
            options = {option for it in each.params for option in it.opts}
            if "--server" not in options and "connect" in _globals_of(each):
                lacking.append(f"{name} {inner}".strip())
    assert lacking == []


def _globals_of(command: Any) -> dict[str, Any]:
    """Names of the module that the command's function is of."""
    return inspect.unwrap(command.callback).__globals__


@pytest.mark.parametrize("args", [[], ["--help"], ["-h"], ["help"]])
def test_listing_names_every_command(cli: Cli, args: list[str]) -> None:
    ran = cli(*args)
    assert (ran.code, ran.out.rstrip(), ran.err) == (0, listing().rstrip(), "")
    assert all(f"\n  {name} " in ran.out for name in COMMANDS)
    assert max(len(line) for line in ran.out.splitlines()) <= 88


def test_version(cli: Cli) -> None:
    assert cli("--version").out == "grader 0.1.0\n"


@pytest.mark.parametrize("arg", ["--help", "--version", "no-such-command"])
def test_the_listing_needs_no_heavy_import(arg: str) -> None:
    code = (
        "import sys; from grader.cli.main import main; main(sys.argv[1:]);"
        "print(*({'typer', 'rich', 'pydantic', 'http', 'dataclasses', 'pathlib'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code, arg], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(cli: Cli, name: str) -> None:
    ran = cli(name, "--help")
    assert ran.code == 0
    assert f"Usage: grader {name}" in ran.out
