"""axe-core's findings on a page. It comes from npm and is fetched once, next to package.json."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

FOLDER = Path(__file__).parent
SCRIPT = FOLDER / "node_modules" / "axe-core" / "axe.min.js"
_FETCH_SECONDS = 240
GRAVE = ("serious", "critical")


def missing() -> str | None:
    """The reason why pages cannot be checked here; None if they can."""
    if SCRIPT.exists() or shutil.which("npm"):
        return None
    return "neither axe-core nor the npm to fetch it"


@cache
def script() -> str:
    if not SCRIPT.exists():
        command = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
        ran = subprocess.run(
            command, cwd=FOLDER, capture_output=True, text=True, check=False, timeout=_FETCH_SECONDS
        )
        assert ran.returncode == 0, f"axe-core could not be fetched: {ran.stderr}"
    return SCRIPT.read_text()


# Rules whose result depends on light or dark.
COLOURS = ("color-contrast", "link-in-text-block")


def violations(page: Page, rules: Sequence[str] = ()) -> list[str]:
    """Grave findings, of ``rules`` or of all: rule, meaning, and place."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(script())
    options: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
    if rules:
        options["runOnly"] = {"type": "rule", "values": list(rules)}
    found: dict[str, Any] = page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{each['id']} ({each['impact']}): {each['help']}: {_where(each)}"
        for each in found["violations"]
        if each["impact"] in GRAVE
    ]


def _where(violation: dict[str, Any]) -> str:
    nodes = violation["nodes"]
    told = [f"{' '.join(map(str, node['target']))} {_measured(node)}" for node in nodes[:4]]
    return "; ".join(told) + (f"; and {len(nodes) - 4} more" if len(nodes) > 4 else "")


def _measured(node: dict[str, Any]) -> str:
    data = [entry["data"] for entry in node["any"] if isinstance(entry.get("data"), dict)]
    return " ".join(str(each["contrastRatio"]) for each in data if "contrastRatio" in each)
