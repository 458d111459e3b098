"""An exception with control sequences for the terminal and script for the browser.

Mechanism: the text of an exception, output, the compiler's log and the names in them hold control sequences
  (clear, title, clipboard, typed answers), a change of writing direction, mark-up and script.
Surface: the report in the CLI and on its page.
Gain: commands typed by a teacher's terminal; a script in a teacher's browser.
"""

from __future__ import annotations

import io

from rich.console import Console

from grader.cli.report import put_report
from tests.hostile.service import Service, failed_with

TEXT = "\x1b[2J\x1b]0;hostile\x07\x1b]52;c;aG9zdGlsZQ==\x07\x9b6n\x08\x08\r\u202egnp\u2066 [red]x[/red] "
TEXT += "<script>alert(1)</script> <img src=x onerror=alert(1)> ' \" > javascript:alert(1)"
ACTS = {chr(number) for number in (*range(32), *range(127, 160))} - {"\n", "\t"} | {"\u202e", "\u2066"}


def attempt(service: Service) -> list[str]:
    report = failed_with(TEXT)
    screen = io.StringIO()
    put_report(report, TEXT, Console(file=screen, width=200, force_terminal=False))
    gained = [f"the terminal got {char!r}" for char in sorted(ACTS & set(screen.getvalue()))]
    if "[red]x[/red]" not in screen.getvalue():
        gained.append("the terminal's own mark-up was obeyed")
    return gained + service.what_runs(f"/submissions/{service.judged(report)}")
