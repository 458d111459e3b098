"""The two consoles: results go to stdout, progress and remarks to stderr. Rich honours NO_COLOR and pipes by itself."""

from __future__ import annotations

import json
import sys
from functools import cache
from typing import Any

from pydantic import BaseModel
from rich.console import Console
from rich.text import Text

from grader.cli.failure import printable


@cache
def out() -> Console:
    """The console of results."""
    return Console(highlight=False, soft_wrap=False)


@cache
def aside() -> Console:
    """The console of progress and remarks."""
    return Console(stderr=True, highlight=False)


def say(text: str, style: str = "") -> None:
    """One remark on stderr."""
    aside().print(Text(printable(text), style), soft_wrap=True)


def tell(text: str, style: str = "") -> None:
    """One line on stdout, never broken: a program may read it."""
    out().print(Text(printable(text), style), soft_wrap=True)


def safe(text: object, style: str = "") -> Text:
    """Text from elsewhere: no markup, no control characters."""
    return Text(printable(str(text)), style)


def put_json(value: BaseModel | Any) -> None:
    """The answer alone on stdout, for programs."""
    sys.stdout.write(
        value.model_dump_json(indent=2) if isinstance(value, BaseModel) else json.dumps(value, indent=2)
    )
    sys.stdout.write("\n")
    sys.stdout.flush()
