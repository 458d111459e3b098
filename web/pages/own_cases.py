from __future__ import annotations

from collections.abc import Sequence

from flask import request
from pydantic import ValidationError

from grader.device_kinds import kind_of
from grader.errors import BadRequest
from grader.languages import ON_GPU
from grader.schemas.card_tool import CardTool
from grader.schemas.challenge import ChallengeDetail
from grader.schemas.own_case import OwnCase

# Of a field with values.
FIELD_CHARS = 100_000


def asked(challenge: ChallengeDetail) -> OwnCase | None:
    """None if nothing is chosen. Raises BadRequest."""
    name = request.form.get("case", "").strip()
    sizes = _filled("size", [arg.name for arg in challenge.arguments])
    inputs = _filled("input", [arg.name for arg in challenge.arguments])
    tool = request.form.get("tool") or None
    if not name:
        if sizes or inputs or tool:
            raise BadRequest("No case is chosen.", "Choose a case in the form below.")
        return None
    version = request.form.get("case-version", "")
    try:
        return OwnCase(
            name=name,
            sizes=sizes,
            inputs=inputs,
            tool=tool,
            version=int(version) if version.isdecimal() and len(version) < 10 else None,
        )
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = " ".join(map(str, first["loc"][:2]))
        why = first["msg"].removeprefix("Value error, ")
        raise BadRequest(f"{where}: {why}.", "Correct it in the form below.") from error


def card_tools(devices: Sequence[str]) -> list[CardTool]:
    """Empty without a GPU."""
    return list(CardTool) if any(kind_of(device).on == ON_GPU for device in devices) else []


def _filled(kind: str, names: list[str]) -> dict[str, str]:
    found = {name: request.form.get(f"{kind}-{name}", "").strip() for name in names}
    return {name: text for name, text in found.items() if text}
