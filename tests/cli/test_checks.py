"""All checks of `grader doctor`: names, errors, and the JSON of both commands."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from grader.cli import checks
from grader.cli.checks import Finding, Level
from grader.errors import BadRequest
from tests.cli.conftest import Cli

FIELDS = {"code", "area", "name", "level", "mark", "text", "hint", "for_what"}


@pytest.mark.parametrize(
    ("area", "name", "code"),
    [
        ("", "gpu", "gpu"),
        ("engine", "control groups", "engine.control_groups"),
        ("gpu", "3, ECC", "gpu.3_ecc"),
        ("kernel", "kernel.core_pattern", "kernel.core_pattern"),
    ],
)
def test_a_finding_code_joins_area_and_name(area: str, name: str, code: str) -> None:
    assert Finding(Level.OK, "", name=name, area=area).code == code


@pytest.mark.parametrize(
    ("error", "message", "hint"),
    [
        (BadRequest("No.", "Try again."), "No.", "Try again."),
        (ModuleNotFoundError(name="docker.errors"), "'docker.errors' is not installed", "[worker]"),
        (ModuleNotFoundError(name="redis"), "'redis' is not installed", "[server]"),
    ],
)
def test_an_error_becomes_a_finding_of_the_check(error: Exception, message: str, hint: str) -> None:
    @checks.check("part", needed_for="up", failed=Level.NOTE)
    def one() -> Finding:
        raise error

    @checks.checks("parts", "engine")
    def several() -> Iterator[Finding]:
        yield checks.ok("fine", "first")
        raise error

    found = checks.examine([one, several])
    assert [(finding.name, finding.area, finding.level) for finding in found] == [
        ("part", "", Level.NOTE),
        ("first", "engine", Level.OK),
        ("parts", "engine", Level.MISSING),
    ]
    assert message in found[0].message
    assert hint in found[0].hint
    assert found[0].needed_for == "up"


def test_an_error_without_a_hint_gets_the_checks_hint() -> None:
    @checks.checks("parts", hint="Start it.")
    def several() -> Iterator[Finding]:
        yield checks.ok("fine")
        raise BadRequest("No.")

    assert [finding.hint for finding in several()] == ["", "Start it."]


def test_a_good_finding_is_needed_for_nothing() -> None:
    @checks.check("part", needed_for="up")
    def one() -> Finding:
        return checks.ok("fine")

    assert one().needed_for == ""


def test_both_doctor_commands_print_findings_of_the_same_shape(cli: Cli) -> None:
    found = json.loads(cli("doctor", "--json").out)["findings"]
    found += json.loads(cli("doctor", "--security", "--json").out)["checks"]
    assert all(set(finding) == FIELDS and finding["mark"] == finding["level"] for finding in found)
    assert all(finding["hint"] for finding in found if finding["level"] in ("warn", "bad"))
