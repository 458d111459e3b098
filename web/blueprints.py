"""Finds blueprints, so new pages need no list."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from flask import Blueprint


def blueprints(package: ModuleType) -> list[Blueprint]:
    """By module name; no two rules match an address equally well (``tests/web/test_blueprints.py``)."""
    found: dict[str, Blueprint] = {}
    # Some modules add views to another's blueprint.
    modules = [
        import_module(f"{package.__name__}.{name}")
        for name in sorted(info.name for info in iter_modules(package.__path__))
    ]
    for module in modules:
        for value in vars(module).values():
            if isinstance(value, Blueprint):
                found.setdefault(value.name, value)
    return list(found.values())
