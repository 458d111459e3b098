"""The HTTP API's reference, from its OpenAPI document."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from grader.manual.markup import code, table, unwrapped

PAGE = "api"
_ENVELOPE = "ErrorEnvelope"


def reference(document: dict[str, Any]) -> str:
    return "\n\n".join(part for part in (*_resources(document), *_models(document)) if part) + "\n"


def _resources(document: dict[str, Any]) -> Iterator[str]:
    about = {tag["name"]: tag.get("description", "") for tag in document.get("tags", [])}
    by_tag: dict[str, list[tuple[str, str, Any]]] = defaultdict(list)
    for path, item in document["paths"].items():
        for method, operation in item.items():
            by_tag[operation["tags"][0]].append((path, method.upper(), operation))
    for tag in sorted(by_tag):
        yield f"## {tag.replace('_', ' ').capitalize()}"
        yield f"{about.get(tag, '').rstrip('.')}."
        for path, method, operation in sorted(by_tag[tag], key=lambda each: each[:2]):
            yield from _operation(path, method, operation)


def _operation(path: str, method: str, operation: dict[str, Any]) -> Iterator[str]:
    yield f"### {method} {path}"
    needs = " Needs a token or a session." if operation.get("security") else ""
    yield f"{_summary(operation)} Open to {operation['x-open-to']}.{needs}"
    rows = [
        (code(each["name"]), each["in"], _type(each["schema"]), _meaning(each))
        for each in operation.get("parameters", [])
    ]
    yield table(("parameter", "in", "type", "meaning"), rows)
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    yield f"Body: {_type(body)}." if body else ""
    yield _answers(operation["responses"])


def _summary(operation: dict[str, Any]) -> str:
    """OpenAPI splits the docstring into summary and description."""
    first, rest = operation.get("summary", ""), operation.get("description", "")
    return unwrapped(rest if rest.startswith(first) else f"{first} {rest}")


def _answers(responses: dict[str, Any]) -> str:
    parts = []
    for status, answer in sorted(responses.items()):
        schema = next((media.get("schema") for media in answer.get("content", {}).values()), None)
        name = _type(schema) if schema else ""
        if _ENVELOPE not in name:
            parts.append(f"{status}{f' with {name}' if name else ''}")
    errors = sorted(
        status for status in responses if not status.startswith("2") and status not in " ".join(parts)
    )
    return f"Answers {', '.join(parts)}." + (f" Errors: {', '.join(errors)}." if errors else "")


def _models(document: dict[str, Any]) -> Iterator[str]:
    yield "## Models"
    schemas = document["components"]["schemas"]
    for name in sorted(schemas):
        schema = schemas[name]
        yield f"### {name}"
        # Python's own docstring of an Enum without one.
        about = unwrapped(schema.get("description", ""))
        yield about if about != "An enumeration." else ""
        if "enum" in schema:
            yield f"One of {', '.join(code(each) for each in schema['enum'])}."
        needed = schema.get("required", [])
        yield table(
            ("field", "type", "needed", "meaning"),
            (
                (code(field), _type(given), "yes" if field in needed else "", _meaning(given))
                for field, given in schema.get("properties", {}).items()
            ),
        )


def _meaning(given: dict[str, Any]) -> str:
    schema = given.get("schema", given)
    default = schema.get("default")
    words = unwrapped(given.get("description") or schema.get("description") or "")
    if default in (None, "", [], {}, False):
        return words
    value = code(json.dumps(default)) if not isinstance(default, dict) else ""
    return f"{words}{'; ' if words and value else ''}{f'default {value}' if value else ''}"


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return " or ".join(_type(each) for each in schema[key])
    if "enum" in schema:
        return ", ".join(code(each) for each in schema["enum"])
    if "const" in schema:
        return code(schema["const"])
    return _plain(schema)


def _plain(schema: dict[str, Any]) -> str:
    kind = schema.get("type", "any")
    if kind == "array":
        inside = schema.get("items") or {}
        return f"list of {_type(inside)}" if inside else "list"
    values = schema.get("additionalProperties")
    if kind == "object" and isinstance(values, dict):
        return f"object of {_type(values)}"
    form = {"date-time": "time (ISO 8601)", "binary": "bytes"}.get(schema.get("format", ""), "")
    return form or {"integer": "whole number", "string": "text", "boolean": "true or false"}.get(kind, kind)
