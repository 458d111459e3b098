"""Compiler's and Python's messages by line. A source can print into its log, so it is bounded, and only text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.errors import Conflict
from grader.languages import compiled_name
from grader.records import histories
from grader.records.histories import History
from grader.schemas.diagnostic import Diagnostic, DiagnosticList, Severity
from grader.schemas.report import Report, Verdict
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions import submissions

_MOST = 100
_MESSAGE_CHARS = 500

# nvcc: `solution.cu(3): error: ...`, `solution.cu(3): warning #177-D: ...`; the host's compiler: `solution.cu:1:10:
# fatal error: ...`.
_NVCC = re.compile(
    compiled_name() + r"\((\d{1,6})\): (?:catastrophic )?(error|warning)(?: (?:#[\w-]+))?: (.+)"
)
_GCC = re.compile(compiled_name() + r":(\d{1,6}):(?:(\d{1,6}):)? (?:fatal )?(error|warning): (.+)")
# The judge's texts for exceptions while loading and in `solve`.
_LOADING = re.compile(r"(\w{1,80}) in line (\d{1,6}): (.+)")
_RAISED = re.compile(r"(\w{1,80}) while [\w .]{1,60} \(line (\d{1,6})\)(?:: (.*))?")
# nvcc repeats the line, indented by two columns, and points below it.
_SHIFT = 2


def latest(platform: Platform, user: User, challenge: str) -> DiagnosticList | None:
    """Of the latest submission or run; None without a verdict."""
    with platform.sessions() as session:
        rows = [
            row
            for runs in (False, True)
            for row in histories.page(session, History(user.id, challenge, runs), 1)
        ]
    if not rows:
        return None
    newest = max(rows, key=lambda row: row.created_at)
    return of_submission(platform, user, newest.public_id) if newest.state.final else None


def of_submission(platform: Platform, user: User, submission: str) -> DiagnosticList:
    """Empty without a report. Raises NotFound."""
    source = submissions.get_source(platform, user, submission)
    try:
        report = submissions.get_report(platform, user, submission)
    except Conflict:
        found = []
    else:
        found = read(report, source.source)
    return DiagnosticList(submission=source.id, language=source.language, diagnostics=found)


def read(report: Report, source: str) -> list[Diagnostic]:
    """Only those on a line of ``source``."""
    lines = source.split("\n")
    found = _of_log(report.compiler_log, lines)
    if not report.language.compiled:
        found = _of_python(report, lines)
    unique: dict[tuple[int, Severity, str], Diagnostic] = {}
    for message in found:
        if message.line <= len(lines):
            unique.setdefault((message.line, message.severity, message.message), message)
    return sorted(unique.values(), key=lambda diagnostic: (diagnostic.line, diagnostic.severity))[:_MOST]


def _of_log(log: str, lines: list[str]) -> Iterator[Diagnostic]:
    log_lines = log.split("\n")
    for place, text in enumerate(log_lines):
        if match := _NVCC.match(text):
            line = int(match[1])
            yield _make(lines, line, _column(log_lines, place, _text(lines, line)), match[2], match[3])
        elif match := _GCC.match(text):
            yield _make(lines, int(match[1]), int(match[2] or 0), match[3], match[4])


def _column(log_lines: list[str], place: int, text: str) -> int:
    """From 1; 0 if there is none, or the log shows another text, as for macros."""
    if place + 2 >= len(log_lines) or log_lines[place + 2].strip() != "^":
        return 0
    if log_lines[place + 1][_SHIFT:].rstrip() != text.rstrip():
        return 0
    return max(log_lines[place + 2].index("^") - _SHIFT + 1, 0)


def _of_python(report: Report, lines: list[str]) -> Iterator[Diagnostic]:
    if report.verdict is Verdict.COMPILE_ERROR and (match := _LOADING.match(report.detail)):
        yield _make(lines, int(match[2]), 0, "error", f"{match[1]}: {match[3]}")
    for case in report.cases:
        if match := _RAISED.match(case.detail):
            said = f"{match[1]}: {match[3]}" if match[3] else match[1]
            yield _make(lines, int(match[2]), 0, "error", f"{said} (case {case.name})")


def _make(lines: list[str], line: int, column: int, severity: str, message: str) -> Diagnostic:
    return Diagnostic(
        line=max(line, 1),
        column=column or None,
        severity=Severity(severity),
        message=message.strip()[:_MESSAGE_CHARS],
        text=_text(lines, line),
    )


def _text(lines: list[str], line: int) -> str:
    return lines[line - 1] if 0 < line <= len(lines) else ""
