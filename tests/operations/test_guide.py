"""The guide and the alerts name things that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from grader.cli.command import load
from grader.service.operation.figures import exposition
from grader.service.platform import Platform, open_platform
from tests.web import builders

ROOT = Path(__file__).resolve().parents[2]
GUIDE = "".join((ROOT / "docs" / f"{name}.md").read_text() for name in ("operating", "troubleshooting"))
ALERTS = (ROOT / "docs" / "alerts.yml").read_text()
LOCAL = (ROOT / "grader" / "metrics" / "local.py").read_text()


@pytest.fixture
def told(tmp_path: Path) -> str:
    platform: Platform = open_platform(builders.make_settings(tmp_path))
    found = exposition(platform).decode()
    platform.close()
    return found


def figures(told: str) -> set[str]:
    """By family name; a counter's has ``_total``."""
    kinds = dict(re.findall(r"^# TYPE (grader_\w+) (\w+)", told, re.MULTILINE))
    return set(kinds) | set(re.findall(r'"(grader_\w+)"', LOCAL))


def test_the_guide_lists_every_metric_and_no_other(told: str) -> None:
    named = set(re.findall(r"`(grader_\w+)", GUIDE))
    there = figures(told)
    assert there - named - {"grader_redis_up"} - {"grader_queue_wakeups"} == set()
    assert named - there - {"grader_queue_wakeups"} == set()  # reported while Redis answers


def test_alerts_use_existing_metrics(told: str) -> None:
    asked = set(re.findall(r"\b(grader_\w+?)(?:_count|_bucket|_sum)?[{ \[]", ALERTS))
    assert asked
    assert asked - figures(told) == set()


def test_alerts_link_to_sections_of_the_guide() -> None:
    pointed = set(re.findall(r"see '([^']+)'", ALERTS, re.IGNORECASE))
    assert pointed
    assert {
        name
        for name in pointed
        if f"**{name}.**" not in GUIDE and f"**{name}**" not in GUIDE and f"**`{name}`.**" not in GUIDE
    } == set()


def test_every_command_of_the_guide_exists() -> None:
    lines = list(re.findall(r"^grader .*", GUIDE, re.MULTILINE))
    lines += re.findall(r"`(grader [a-z][^`]*)`", GUIDE)
    assert lines
    for line in lines:
        words = shlex.split(line.replace("\n", " ").split("#")[0])[1:]
        command = get_command(load(words[0])).commands[words[0]]  # type: ignore[attr-defined]
        for word in words[1:]:
            if hasattr(command, "commands") and not word.startswith("-"):
                assert word in command.commands, line
                command = command.commands[word]
            elif word.startswith("--"):
                assert any(word in param.opts for param in command.params), line
