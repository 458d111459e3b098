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
    _put(value.model_dump_json(indent=2) if isinstance(value, BaseModel) else json.dumps(value, indent=2))


def put_json_line(value: dict[str, BaseModel]) -> None:
    """One object in one line, at once: a program follows what happens."""
    _put(json.dumps({name: each.model_dump(mode="json") for name, each in value.items()}))


def _put(text: str) -> None:
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(json.loads(text), indent=2)  # escapes what the stream cannot hold
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
