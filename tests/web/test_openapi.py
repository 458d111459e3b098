"""The OpenAPI document is complete and consistent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from flask_openapi3.utils import parse_parameters
from pydantic import BaseModel, ValidationError

from grader.service.accounts.accounts import User
from grader.web.throttle import limiter
from tests.web.conftest import Visit


@pytest.fixture
def document(app: Flask) -> dict[str, Any]:
    answer = app.test_client().get("/api/v1/openapi.json")
    assert answer.status_code == 200
    found = answer.get_json()
    assert isinstance(found, dict)
    return found


def test_the_document_lists_every_route(app: Flask, document: dict[str, Any]) -> None:
    routes = {
        (re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule), method)
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/api/") and rule.endpoint != "openapi_document"
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    listed = {(path, method.upper()) for path, item in document["paths"].items() for method in item}
    assert listed == routes
    assert len(routes) > 20  # the access test lists them


def test_the_document_lists_no_page(document: dict[str, Any]) -> None:
    assert all(path.startswith("/api/v1/") for path in document["paths"])


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield f"{method} {path}", operation


def test_each_operation_is_described(document: dict[str, Any]) -> None:
    names = set()
    for where, operation in operations(document):
        assert operation["summary"], where
        assert any(status.startswith("2") for status in operation["responses"]), where
        errors = [
            answer
            for status, answer in operation["responses"].items()
            if status in ("400", "401", "404", "409")
        ]
        for answer in errors:
            assert answer["content"]["application/json"]["schema"]["$ref"].endswith("/ErrorEnvelope"), where
        names.add(operation["operationId"])
    assert len(names) == sum(1 for _ in operations(document))


def test_path_parameters_are_declared(document: dict[str, Any]) -> None:
    for path, item in document["paths"].items():
        for operation in item.values():
            declared = {each["name"] for each in operation.get("parameters", []) if each["in"] == "path"}
            assert declared == set(re.findall(r"{(\w+)}", path))


def test_every_reference_resolves(document: dict[str, Any]) -> None:
    for reference in references(document):
        place: Any = document
        for part in reference.removeprefix("#/").split("/"):
            assert part in place, reference
            place = place[part]


def test_security_is_declared(document: dict[str, Any]) -> None:
    schemes = set(document["components"]["securitySchemes"])
    assert schemes == {"token", "session"}
    me = document["paths"]["/api/v1/me"]["get"]
    assert {name for each in me["security"] for name in each} == schemes
    assert "security" not in document["paths"]["/api/v1/challenges"]["get"]


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        for name, value in part.items():
            if name == "$ref":
                yield value
            else:
                yield from references(value)
    elif isinstance(part, list):
        for value in part:
            yield from references(value)


def test_each_operation_declares_its_answers_to_bad_tokens(app: Flask, document: dict[str, Any]) -> None:
    """Every call checks the token that it gets, needed or not."""
    client = app.test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = "Bearer grd_nobodys"
    wrong = []

    def until(status: int) -> None:
        while client.get("/api/v1/me").status_code != status:
            pass

    for status in (401, 429):
        until(status)
        for path, item in document["paths"].items():
            for method, operation in item.items():
                if status == 401:
                    limiter.reset()  # there are more calls than bad tokens in a minute
                address = path.replace("{", "").replace("}", "")
                answer = client.open(address, method=method.upper(), json={})
                if answer.status_code == 401 != status:  # the minute is over
                    until(status)
                    answer = client.open(address, method=method.upper(), json={})
                said = str(operation["responses"].get(str(status)))
                if answer.status_code != status or "/ErrorEnvelope" not in said:
                    wrong.append(f"{method} {path}: {answer.status_code}, {said}")
    assert wrong == []


# Values of other types, however close.
_OTHERS: dict[str, list[object]] = {
    "boolean": [0, 1, 0.0, "", "0", "true", "on", [], None],
    "integer": ["1", " 1", 1.0, 1.5, True, [1], None],
    "string": [0, 1, True, ["x"], None],
    "array": ["read", {"0": "read"}, 1, True, None],
    "number": ["1", " 1", True, [1], {"a": 1}, None],
    "object": [[], "x", "{}", 1, True, None],
    "null": [],
}


def test_body_values_of_another_type_are_refused(app: Flask, document: dict[str, Any]) -> None:
    """Validation follows the document."""
    taken, looked_at = [], set()
    schemas = document["components"]["schemas"]
    for model in bodies(app):
        for name, said in schemas[model.__name__]["properties"].items():
            kinds = types(said, schemas)
            others = [
                each
                for kind in kinds - {"null"}
                for each in _OTHERS[kind]
                if kinds_of(each).isdisjoint(kinds)
            ]
            if said.get("format") == "date-time" or "date-time" in str(said.get("anyOf")):
                others += ["0", "1700000000"]
            taken += [f"{model.__name__}.{name} = {other!r}" for other in others if takes(model, name, other)]
            looked_at |= kinds
    assert taken == []
    assert looked_at == set(_OTHERS)


def bodies(app: Flask) -> set[type[BaseModel]]:
    parts = [parse_parameters(view) for name, view in app.view_functions.items() if name.startswith("api_")]
    return {body for *_, body, _ in parts if body is not None}


def types(said: dict[str, Any], schemas: dict[str, Any]) -> set[str]:
    if "$ref" in said:
        return types(schemas[said["$ref"].rpartition("/")[2]], schemas)
    if parts := said.get("anyOf", said.get("allOf")):
        return {kind for each in parts for kind in types(each, schemas)}
    return {said["type"]}


def kinds_of(value: object) -> set[str]:
    names: dict[type, set[str]] = {bool: {"boolean"}, int: {"integer"}, float: {"number"}, str: {"string"}}
    names |= {list: {"array"}, dict: {"object"}}
    return names.get(type(value), {"null"} if value is None else set())


def takes(model: type[BaseModel], name: str, value: object) -> bool:
    """True if ``name`` may be ``value``, whatever else is missing."""
    try:
        model.model_validate({name: value})
    except ValidationError as error:
        return all(each["loc"][:1] != (name,) for each in error.errors())
    return True


@pytest.mark.parametrize(
    ("said", "status"), [("true", 200), ("false", 200), ("1", 400), ("0", 400), ("null", 400)]
)
def test_a_query_flag_is_true_or_false(call: Visit, teacher: User, said: str, status: int) -> None:
    assert call(teacher).get(f"/api/v1/submissions?everyone={said}").status_code == status
