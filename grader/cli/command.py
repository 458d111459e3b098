"""Runs one command's Typer app. Every failure has a line, a hint and an exit code."""

from __future__ import annotations

import errno
import functools
import inspect
import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import typer

from grader.cli import config
from grader.cli.interrupts import interrupts_end_this
from grader.cli.options import Server
from grader.cli.output import EXIT_INTERRUPTED, UNWRITTEN, discard_output, report
from grader.cli.registry import COMMANDS
from grader.errors import BadRequest, GraderError, Unreachable


class Unexpected(GraderError):
    """A defect of grader itself."""

    code = "unexpected"


class MissingPart(GraderError):
    """This installation lacks what the command needs."""

    code = "missing_part"


# The extra `server` has all other packages.
_EXTRA_OF = {
    "torch": "worker",
    "triton": "worker",
    "numpy": "worker",
    "docker": "worker",
    "mcp": "mcp",
    "anyio": "mcp",
}


class _RemoteApp(typer.Typer):
    """Adds --server to each command without it."""

    def command(  # type: ignore[override]
        self, *args: Any, **options: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        register = super().command(*args, **options)
        return lambda function: register(_with_server(function))


def _with_server(function: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(function, eval_str=True)
    if "server" in signature.parameters:
        return function

    @functools.wraps(function)
    def run_on_server(*args: Any, server: str | None = None, **options: Any) -> Any:
        return function(*args, **options)  # the option's callback keeps the address

    option = inspect.Parameter("server", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Server)
    parameters = [*signature.parameters.values(), option]
    # The stubs lack this attribute.
    run_on_server.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run_on_server


def make_app(remote: bool = False) -> typer.Typer:
    """Commands return their exit code (None: 0). Those of a ``remote`` app have --server."""
    kind = _RemoteApp if remote else typer.Typer
    app = kind(add_completion=False, pretty_exceptions_enable=False, no_args_is_help=True)
    # Without it, Typer turns an app with one command into that command.
    app.callback()(lambda: None)
    return app


def load(name: str) -> typer.Typer:
    module: Any = import_module(f"grader.cli.commands.{COMMANDS[name][0]}")
    app: typer.Typer = module.app
    return app


def run(args: list[str]) -> int:
    config.forget_flags()
    try:
        with interrupts_end_this():
            app = load(args[0])
        code = app(args=args, prog_name="grader", standalone_mode=False)
        sys.stdout.flush()
    except GraderError as error:
        return report(error, args)
    except (KeyboardInterrupt, typer.Abort):
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        discard_output()
        return EXIT_INTERRUPTED
    except ModuleNotFoundError as error:
        return report(_missing(error), args)
    except Exception as error:
        return report(_explain(error, args), args)
    return int(code or 0)


def _missing(error: ModuleNotFoundError) -> GraderError:
    return MissingPart(
        f"This command needs the Python package '{_package(error)}', which is not installed here.",
        f"Install it: pip install 'kernel-grader[{extra_of(error)}]'.",
    )


def extra_of(error: ModuleNotFoundError) -> str:
    return _EXTRA_OF.get(_package(error), "server")


def _package(error: ModuleNotFoundError) -> str:
    return (error.name or "").partition(".")[0]


def _explain(error: Exception, args: list[str]) -> GraderError:
    """Anything but a usage error is a defect, shown without its traceback."""
    describe = getattr(error, "format_message", None)
    if describe is not None:
        said = str(describe()).replace("\n", " ").replace("Value error, ", "")  # pydantic's
        return BadRequest(said, f"`{_path(error, args)} --help` describes its options.")
    if type(error).__name__ == "OperationalError" and type(error).__module__.startswith("sqlalchemy"):
        said = str(getattr(error, "orig", error)).strip().splitlines()[0]
        return Unreachable(
            f"The database cannot be used: {said}", "GRADER_DATABASE_URL or GRADER_DATA_DIR names it."
        )
    if isinstance(error, OSError) and error.errno == errno.ENOSPC and error.filename is None:
        return BadRequest(UNWRITTEN)
    if os.environ.get("GRADER_DEBUG"):
        raise error
    return Unexpected(
        f"{type(error).__name__}: {error}", "Set GRADER_DEBUG=1 for the traceback, and report it."
    )


def _path(error: Exception, args: list[str]) -> str:
    context = getattr(error, "ctx", None)
    return str(context.command_path) if context is not None else f"grader {args[0]}"
