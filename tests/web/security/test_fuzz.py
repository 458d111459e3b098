"""The served OpenAPI document against the application: valid and forbidden requests are answered as the
document says, to nobody, a student, staff and an admin. Each commit asks something else (``tests.rotation``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from grader.languages import Language
from grader.records import workers
from grader.records.engine import writing
from grader.records.models import utcnow
from grader.schemas.account import Role
from grader.service.accounts import accounts, tokens
from grader.service.accounts.accounts import User
from grader.service.challenges import publication
from grader.service.platform import Platform, open_platform
from grader.web import throttle
from grader.web.app import create_app
from tests import rotation
from tests.web import builders

load_all_checks()
CHECKS = [
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
# Of each operation, for each caller; valid and broken requests.
EXAMPLES = 3
# Tests of one caller; each asks its share of the operations.
SHARES = 8
# It says 503 if a part of the platform is away, as Redis and workers are here.
MAY_BE_UNWELL = "GET /api/v1/health"
CALLERS = ["nobody", "student", "staff", "admin"]
WORKER = "host-1"
# Values in addresses; most exist.
NAMES = {
    "slug": builders.SLUG,
    "challenge": builders.SLUG,
    "language": "triton",
    "track": "basics",
    "name": "bob",
    "payer": "user",
    "queue": "compile",
    "course": "gpu",
    "about": "challenge",
    "assignment": "week1",
    "competition": "cup",
    "team": "none",
    "worker": WORKER,
    "id": "none",
    "batch": "none",
    "key": "none",
    "version": 1,
    "number": 1,
}
# Numbers at and beyond the limits of database columns and of Python.
WHOLE_NUMBERS = {"version", "before", "after", "limit", "offset", "number"}
NUMBERS = [0, -1, 2**31 - 1, 2**31, 2**63, 10**30]


@schemathesis.serializer("application/x-ndjson")
def _as_line(ctx: Any, value: Any) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value, default=str).encode()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Platform, Any]]:
    """One platform for all operations, and its document read as a schema."""
    folder: Path = tmp_path_factory.mktemp("fuzz")
    platform = open_platform(builders.make_settings(folder))
    yield platform, schemathesis.openapi.from_wsgi("/api/v1/openapi.json", create_app(platform))
    platform.close()


@pytest.fixture(scope="module")
def by_label(served: tuple[Platform, Any]) -> dict[str, Any]:
    """The document's operations by label: reading them takes longer than calling one."""
    _, schema = served
    return {each.label: each for each in (found.ok() for found in schema.get_all_operations())}


@pytest.fixture(autouse=True)
def _unthrottled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle.limiter, "enabled", False)


@pytest.fixture(scope="module")
def people(served: tuple[Platform, Any]) -> dict[str, User | None]:
    platform, _ = served
    accounts.create_user(platform, "bob", builders.PASSWORD)
    with writing(platform.sessions) as session:
        workers.register(session, WORKER, "cpu", list(Language), utcnow(), None, False)
    return {
        "nobody": None,
        "student": accounts.create_user(platform, "ada", builders.PASSWORD),
        "staff": accounts.create_user(platform, "teacher", builders.PASSWORD, Role.STAFF),
        "admin": accounts.create_user(platform, "dean", builders.PASSWORD, Role.ADMIN),
    }


def test_the_api_document_covers_every_operation(
    served: tuple[Platform, Any], by_label: dict[str, Any]
) -> None:
    platform, schema = served
    schema.validate()
    document = create_app(platform).test_client().get("/api/v1/openapi.json").get_json()
    asked = {f"{method.upper()} {path}" for path, item in document["paths"].items() for method in item}
    assert asked == by_label.keys()


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("share", range(SHARES))
def test_answers_follow_the_api_document(
    served: tuple[Platform, Any],
    by_label: dict[str, Any],
    people: dict[str, User | None],
    share: int,
    caller: str,
) -> None:
    labels = sorted(by_label)[share::SHARES]
    assert labels
    wrong = {}
    for label in labels:
        try:
            _ask(served[0], people, caller, label, by_label[label])
        except Exception as error:
            wrong[label] = f"{type(error).__name__}: {error}"
    assert wrong == {}, f"GRADER_TEST_SEED={rotation.number()} asks the same again"


def _ask(platform: Platform, people: dict[str, User | None], caller: str, label: str, operation: Any) -> None:
    user = people[caller]
    kept = tokens.list_tokens(platform, user).tokens if user else []
    known = NAMES | {"number": kept[0].id if kept else 1}
    if "{id}" in label:  # a fresh one, of the 200 that a student has in a day
        student, admin = people["student"], people["admin"]
        assert student is not None
        assert admin is not None
        publication.publish(platform, admin, builders.SLUG)  # an earlier request may have hidden it
        known["id"] = builders.judged(platform, student, builders.wrong()).id
    sent = st.one_of(
        operation.as_strategy(generation_mode=GenerationMode.POSITIVE),
        operation.as_strategy(generation_mode=GenerationMode.NEGATIVE),
    )

    @seed(rotation.number())
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )
    @given(case=sent, real=st.booleans(), ending=st.sampled_from(["py", "cu"]))
    def ask(case: Any, real: bool, ending: str) -> None:
        if real:  # invented names rarely exist
            case.path_parameters = {name: known[name] for name in case.path_parameters or {}}
            if label == "POST /api/v1/batches":
                line = {"id": "a", "challenge": builders.SLUG, "source": builders.SOURCE, "filename": "a.py"}
                case.query, case.body = {"name": "fuzz"}, line
            if isinstance(case.body, dict) and label == "POST /api/v1/submissions":
                case.body = {"challenge": builders.SLUG, "source": builders.SOURCE, "filename": f"a.{ending}"}
        headers = {"Authorization": f"Bearer {token()}"} if user else {}
        answer = case.call(headers=headers)
        assert answer.status_code < 500 or (label == MAY_BE_UNWELL and answer.status_code == 503), answer.text
        assert answer.headers["x-content-type-options"] == ["nosniff"]
        case.validate_response(answer, checks=CHECKS)

    def token() -> str:
        """A new one each time: operations revoke tokens."""
        assert user is not None
        return tokens.issue_token(platform, user, "fuzz").token

    ask()


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_beyond_every_column_are_no_server_error(
    served: tuple[Platform, Any], people: dict[str, User | None], number: int
) -> None:
    platform, schema = served
    user = people["staff"]
    assert user
    asked = 0
    for operation in (found.ok() for found in schema.get_all_operations()):
        places = [("query", each.name) for each in operation.query] + [
            ("path", parameter.name) for parameter in operation.path_parameters
        ]
        for place, name in places:
            if name not in WHOLE_NUMBERS:
                continue
            path = NAMES | ({name: number} if place == "path" else {})
            case = operation.Case(
                path_parameters=path,
                query={name: number} if place == "query" else {},
                method=operation.method,
            )
            headers = {"Authorization": f"Bearer {tokens.issue_token(platform, user, 'fuzz').token}"}
            answer = case.call(headers=headers)
            assert answer.status_code < 500, f"{operation.label} {name}={number}"
            asked += 1
    assert asked == 51
