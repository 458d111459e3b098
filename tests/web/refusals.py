"""The API's address, a valid body, and the shape of refusals."""

from __future__ import annotations

from werkzeug.test import TestResponse

from grader.schemas.submission import ErrorEnvelope
from tests.web import builders

API = "/api/v1"
BODY = {"challenge": builders.SLUG, "source": builders.SOURCE, "filename": "add.py"}


def refused(answer: TestResponse, status: int, code: str) -> str:
    assert answer.status_code == status, answer.text
    assert answer.mimetype == "application/json"
    error = ErrorEnvelope.model_validate_json(answer.data).error
    assert error.code == code
    return f"{error.message} {error.hint}"
