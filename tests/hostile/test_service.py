"""Attacks on web, API and command line: each file of attacks/service states its mechanism, and names its
gain.
"""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from tests.hostile.service import Service
from tests.web.conftest import Visit, ada, app, bob, call, platform, visit  # noqa: F401

pytestmark = pytest.mark.both_databases

FOLDER = Path(__file__).parent / "attacks" / "service"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))


@pytest.fixture
def service(platform: Platform, ada: User, bob: User, visit: Visit, call: Visit) -> Service:  # noqa: F811
    return Service(platform, ada, visit(ada), call(ada), call(bob))


@pytest.mark.parametrize("name", NAMES)
def test_no_service_attack_gains_anything(name: str, service: Service) -> None:
    attack = importlib.import_module(f"tests.hostile.attacks.service.{name}")
    assert attack.attempt(service) == []


@pytest.mark.parametrize("name", NAMES)
def test_each_service_attack_documents_itself(name: str) -> None:
    told = ast.get_docstring(ast.parse((FOLDER / f"{name}.py").read_text())) or ""
    assert all(f"\n{field}: " in told for field in ("Mechanism", "Surface", "Gain"))
