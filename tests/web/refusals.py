"""The API's address, a body that it takes, and how it refuses."""

from __future__ import annotations

from werkzeug.test import TestResponse

from grader.schemas.submission import ErrorEnvelope
from tests.web import builders

API = "/api/v1"
BODY = {"challenge": builders.SLUG, "source": builders.SOURCE, "filename": "add.py"}


def refused(answer: TestResponse, status: int, code: str) -> str:
    """The message of an error, after checking that it has the one shape."""
    assert answer.status_code == status, answer.text
    assert answer.mimetype == "application/json"
    error = ErrorEnvelope.model_validate_json(answer.data).error
    assert error.code == code
    return f"{error.message} {error.hint}"
