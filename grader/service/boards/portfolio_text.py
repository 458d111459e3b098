from __future__ import annotations

import re
from datetime import UTC

from grader.device_kinds import caution_of
from grader.formats import duration, three_digits
from grader.schemas.portfolio import Portfolio, PortfolioEntry

_NOT_PLAIN = re.compile(r"([\\`*_{}\[\]<>#|~])")


def heading(found: Portfolio) -> str:
    count = len(found.entries)
    return f"{count} {'kernel' if count == 1 else 'kernels'}, ranks as of {found.at:%Y-%m-%d}"


def facts(entry: PortfolioEntry) -> list[tuple[str, str]]:
    """In display order."""
    found = [("Challenge", f"{entry.challenge}, version {entry.version}")]
    found.append(("Language", entry.language.display_name))
    found.append(("Device", entry.device))
    if entry.time_us is not None:
        half = (entry.ci_us[1] - entry.ci_us[0]) / 2 if entry.ci_us else 0.0
        found.append(
            ("Time", f"{duration(entry.time_us)} ± {duration(half)}" if half else duration(entry.time_us))
        )
    if entry.speedup is not None:
        factor = three_digits(entry.speedup) if entry.speedup >= 0.1 else f"{entry.speedup:.2g}"
        found.append(("Speedup over PyTorch", f"{factor}x"))
    if entry.rank is not None:
        found.append(("Rank", f"{entry.rank} of {entry.entries}"))
    elif entry.competition:
        found.append(("Board", "submitted to a competition"))
    elif entry.withdrawn:
        found.append(("Board", "taken off the board by its author"))
    found.append(("Submitted", f"{entry.submitted_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"))
    found.append(("Submission", entry.submission))
    if not entry.representative:
        found.append(("Times", f"not representative: on {entry.device} they {caution_of(entry.device)}"))
    return found


def markdown(found: Portfolio) -> str:
    """Notes are quoted; sources are fenced so that none can end its block."""
    parts = [f"# Kernels of {_plain(found.user)}", f"{heading(found)}."]
    for entry in found.entries:
        parts.append(f"## {_plain(entry.title)}")
        parts.append("\n".join(f"- {name}: {_plain(value)}" for name, value in facts(entry)))
        if entry.note:
            parts.append("\n".join(f"> {line}".rstrip() for line in entry.note.split("\n")))
        parts.append(_fenced(entry) if entry.source else "The source was removed.")
    return "\n\n".join(parts) + "\n"


def _fenced(entry: PortfolioEntry) -> str:
    longest = max((len(run) for run in re.findall("`+", entry.source)), default=0)
    fence = "`" * max(3, longest + 1)
    source = entry.source.replace("\r\n", "\n").rstrip("\n")
    return f"{fence}{entry.language.fences[0]}\n{source}\n{fence}"


def _plain(text: str) -> str:
    """Escapes Markdown."""
    return _NOT_PLAIN.sub(r"\\\1", text)
