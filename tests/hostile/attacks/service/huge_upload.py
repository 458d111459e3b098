"""A hundred megabytes.

Mechanism: a source of 100 MB by form and API, a body that is larger than it says, and JSON nested a hundred thousand
  times.
Surface: the web's memory, the database.
Gain: a web server that swaps, a database that keeps it all.
"""

from __future__ import annotations

from tests.hostile.service import Service

SIZE = 100_000_000


def attempt(service: Service) -> list[str]:
    source = b"#" * SIZE
    answers = {"form": service.by_form(source), "API": service.by_api(source.decode())}
    nested = b'{"source":' + b"[" * 100_000
    answers["nesting"] = service.program.post(service.API, data=nested, content_type="application/json")
    gained = [
        f"{name}: {answer.status_code}"
        for name, answer in answers.items()
        if answer.status_code not in (400, 413)
    ]
    return gained + [f"stored: {submission}" for submission in service.stored()]
