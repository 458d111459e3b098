"""Walking the packages finds all pages and resources; their order decides nothing."""

from __future__ import annotations

import re
from collections import defaultdict
from enum import Enum
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import pytest
from flask import Flask
from pydantic import BaseModel
from werkzeug.routing import Map

from grader import schemas
from grader.web import api, pages
from tests.web.security.rows import ROWS

_ROUTE = re.compile(r"^@\w+\.(get|post|put|patch|delete|route)\(", re.MULTILINE)


@pytest.mark.parametrize("package", [api, pages])
def test_every_module_with_a_route_is_registered(app: Flask, package: ModuleType) -> None:
    (folder,) = map(Path, package.__path__)
    routed = {
        f"{package.__name__}.{path.stem}": len(_ROUTE.findall(path.read_text()))
        for path in folder.glob("*.py")
        if _ROUTE.search(path.read_text())
    }
    found: dict[str, int] = defaultdict(int)
    for rule in app.url_map.iter_rules():
        module = app.view_functions[rule.endpoint].__module__
        if module in routed:
            found[module] += 1
    assert found == routed
    assert len(routed) > 25


def test_no_address_depends_on_the_order_of_registration(app: Flask) -> None:
    backwards = Map([rule.empty() for rule in reversed(list(app.url_map.iter_rules()))])
    for urls in (app.url_map.bind("localhost"), backwards.bind("localhost")):
        for row in ROWS:
            path = re.sub(r"{\w+}", "0000000001", row.path).partition("?")[0]
            rule, _ = urls.match(path, method=row.method, return_rule=True)
            assert rule.rule == row.rule, f"{row.method} {path}"


def test_no_two_models_share_a_name() -> None:
    """The API document has one schema for a name: the second would replace the first."""
    found: dict[str, set[type]] = defaultdict(set)
    for info in iter_modules(schemas.__path__):
        for value in vars(import_module(f"{schemas.__name__}.{info.name}")).values():
            if isinstance(value, type) and issubclass(value, BaseModel | Enum):
                found[value.__name__].add(value)
    assert {name: models for name, models in found.items() if len(models) > 1} == {}
