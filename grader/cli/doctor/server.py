"""Of the server that is talked to."""

from __future__ import annotations

from typing import Any

from grader import __version__
from grader.cli.doctor.finding import Finding, Mark
from grader.errors import GraderError


def server() -> list[Finding]:
    """The server, and what its staff must mend of its GPUs."""
    from grader.cli import login
    from grader.cli.client import Client

    try:
        address, token = login.server(), login.token()
        health = Client(address, token, seconds=5.0).get("/health")
        me = Client(address, token, seconds=5.0).get("/me") if token else {}
    except GraderError as error:
        return [Finding("server", Mark.MISSING, error.message, error.hint, "submit")]
    alerts = [
        Finding("alert", Mark.MISSING, str(it.get("text")), str(it.get("mend")), f"staff of {address}")
        for it in health.get("alerts") or []
    ]
    return [_server_itself(address, health, me), *alerts]


def _server_itself(address: str, health: dict[str, Any], me: dict[str, Any]) -> Finding:
    parts = health.get("parts", {})
    ailing = [f"{name}: {part.get('detail')}" for name, part in parts.items() if not part.get("ok")]
    signed_in = f"signed in as {me.get('name')}" if me else "not signed in"
    told = f"{address} (grader {health.get('version')}), {signed_in}"
    if ailing:
        return Finding(
            "server", Mark.MISSING, f"{told}; not well: {'; '.join(ailing)}", "Tell its staff.", "submit"
        )
    if (theirs := health.get("version")) not in (None, __version__):
        mend = f"pip install 'kernel-grader=={theirs}' here, or have its staff bring it up to date."
        return Finding("server", Mark.NOTE, f"{told}; this is grader {__version__}", mend, "submit")
    if not me:
        return Finding("server", Mark.NOTE, told, "grader login", "submit")
    return Finding("server", Mark.OK, told)
