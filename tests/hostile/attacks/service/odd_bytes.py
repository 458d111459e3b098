"""Sources that are not text.

Mechanism: empty, blanks, a program, a picture, UTF-16, overlong and half characters, and NUL bytes, by form and
  API.
Surface: code that stores, compiles or shows a source.
Gain: a failure that counts as the platform's and is tried again; a page that staff cannot open.
"""

from __future__ import annotations

from tests.hostile.service import Service

SOURCES = [
    b"",
    b" \n\t",
    b"\x7fELF\x02\x01\x01\0",
    b"\x89PNG\r\n\x1a\n\0",
    "def solve(): pass".encode("utf-16"),
]
SOURCES += [b"x = 1\0", b"\xc0\xaf", b"\xed\xa0\x80", b"\xff" * 1000, b"\0"]

TEXTS = ["", " \n\t", "x = 1\0", "\ud800", "\udfff = 1"]


def attempt(service: Service) -> list[str]:
    answers = {f"form {text[:8]!r}": service.by_form(text).status_code for text in SOURCES}
    answers |= {f"API {text!r}": service.by_api(text).status_code for text in TEXTS}
    gained = [f"{name}: {status}" for name, status in answers.items() if status != 400]
    return gained + [f"stored: {submission}" for submission in service.stored()]
