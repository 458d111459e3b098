"""`doctor`: what this machine can and cannot do."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from rich.table import Table
from rich.text import Text
from typer import Option

from grader.cli import options
from grader.cli.command import make_app
from grader.cli.terminal import put_json, put_table, safe

app = make_app()
_COLOURS = {"ok": "green", "note": "cyan", "missing": "yellow"}


@app.command()
def doctor(
    security: Annotated[
        bool, Option("--security", help="Check how safe this host is for running other people's code.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Say what this machine can and cannot do, and the mend. Finding something missing is no failure."""
    if security:
        return _security(json)
    from grader.cli.doctor import examine

    findings = examine()
    if json:
        put_json({"findings": [asdict(finding) for finding in findings]})
        return 0
    table = Table(box=None, pad_edge=False, show_header=False)
    for finding in findings:
        told = safe(finding.text)
        if finding.for_what and finding.mark != "ok":
            told.append(f"  (needed for: {finding.for_what})", "dim")
        if finding.mend:
            told.append_text(Text.assemble(("\n-> ", "bold"), safe(finding.mend)))
        table.add_row(Text(finding.mark.value, _COLOURS[finding.mark]), Text(finding.name, "bold"), told)
    put_table(table)
    return 0


def _security(json: bool) -> int:
    from grader.cli.security.everything import examine_security, table

    checks = examine_security()
    if json:
        put_json({"checks": [asdict(check) for check in checks]})
    else:
        put_table(table(checks))
    return 0
