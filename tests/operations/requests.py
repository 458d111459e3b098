"""One HTTP request, whatever its status."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from email.message import Message
from typing import Any

_SECONDS = 60


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Message
    body: str


def call(url: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
    data = None if body is None else json.dumps(body).encode()
    told = {**(headers or {}), **({"Content-Type": "application/json"} if data else {})}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, told), timeout=_SECONDS) as answer:
            return Answer(answer.status, answer.headers, answer.read().decode())
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.headers, error.read().decode())
