"""The OpenAPI document: complete, and without a loose end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask


@pytest.fixture
def document(app: Flask) -> dict[str, Any]:
    answer = app.test_client().get("/api/v1/openapi.json")
    assert answer.status_code == 200
    found = answer.get_json()
    assert isinstance(found, dict)
    return found


def test_lists_every_route(app: Flask, document: dict[str, Any]) -> None:
    routes = {
        (re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule), method)
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/api/") and rule.endpoint != "openapi_document"
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    listed = {(path, method.upper()) for path, item in document["paths"].items() for method in item}
    assert listed == routes
    assert len(routes) > 20  # which they are is written in the table of who may


def test_no_page_is_in_it(document: dict[str, Any]) -> None:
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
