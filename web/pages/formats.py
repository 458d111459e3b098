from __future__ import annotations

import functools
import json
import re
import shlex
import zoneinfo
from datetime import UTC, datetime
from typing import Any

from flask import Flask
from markupsafe import Markup, escape

from grader.deadlines import zoned
from grader.device_kinds import EMULATED, caution_of, languages_of
from grader.formats import duration, points, sizes, three_digits, wait
from grader.languages import LANGUAGES, Language
from grader.schemas.report import TOO_SHORT
from grader.schemas.submission import State
from grader.schemas.verdict import VERDICTS, Tone, VerdictWord
from grader.web.pages.error_maps import picture
from grader.web.pages.glossary import explained

# An address of ours in running text, without a full stop after it.
_DOCS = re.compile(r"(?<![^\s(])/docs/[a-z0-9/-]*[a-z0-9](#[a-z0-9-]+)?")
_FLAGS = {
    "library_kernel": "calls a library kernel",
    "host_computed": "computes on the host, so it has no time",
    "above_roofline": "faster than the hardware allows",
    "work_outside_gate": "worked outside the timed window",
    "similar": "resembles another submission",
}
_STATE_TONES = {
    State.QUEUED: Tone.IDLE,
    State.COMPILING: Tone.BUSY,
    State.WAITING: Tone.BUSY,
    State.TESTING: Tone.BUSY,
    State.TIMING: Tone.BUSY,
    State.DONE: Tone.BAD,
    State.CANCELLED: Tone.IDLE,
    State.FAILED: Tone.OURS,
}


def init_app(app: Flask) -> None:
    app.jinja_env.trim_blocks = True
    app.jinja_env.lstrip_blocks = True
    app.jinja_env.globals.update(
        too_short=TOO_SHORT,
        languages=LANGUAGES,
        emulated=EMULATED,
        languages_of=languages_of,
        time_zones=time_zones,
    )
    app.jinja_env.filters.update(
        duration=duration,
        interval=interval,
        factor=factor,
        points=points,
        seconds=wait,
        words=words,
        capital=capital,
        value=value,
        sizes=sizes,
        number=number,
        clock=clock,
        zoned=zoned,
        iso=iso,
        language_name=lambda name: Language.named(name).display_name,
        language_mode=lambda name: Language.named(name).editor,
        flag_words=flag_words,
        tone=tone,
        shell=shlex.quote,
        quantity=quantity,
        exactly=exactly,
        docs_linked=docs_linked,
        caution=caution_of,
        error_picture=picture,
        explained=explained,
    )


def interval(us: float, bounds: tuple[float, float]) -> str:
    """``± 3.1 %``: the wider side of ``bounds``; empty for a model's time."""
    if bounds[0] == bounds[1]:
        return ""
    wide = max(us - bounds[0], bounds[1] - us) / us * 100
    return f"± {wide:.1f} %" if wide < 10 else f"± {wide:.0f} %"


def factor(value: float) -> str:
    """``1.31×``; ``0.0043×`` if two decimals would be zeros."""
    return f"{three_digits(value)}×" if value >= 0.1 else f"{value:.2g}×"


_PREFIXES = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")]


def quantity(value: float, unit: str = "") -> str:
    """At most three significant digits, with an SI prefix: ``4.79 TB/s``, ``67 TFLOP/s``."""
    for scale, prefix in _PREFIXES if unit else ():
        if value >= scale * 0.9995:
            return f"{_trimmed(value / scale)} {prefix}{unit}"
    return f"{_trimmed(value)} {unit}".rstrip()


def exactly(value: float) -> str:
    """Four significant digits, with an exponent instead of many zeros."""
    return "0" if value == 0 else f"{value:.4g}"


def words(name: str) -> str:
    """``block_edge`` as ``block edge``; a verdict as its title."""
    if isinstance(name, VerdictWord):
        return name.row.title.lower()
    return str(name).replace("_", " ").replace("-", " ")


def capital(text: str) -> str:
    """Keeps the other letters: ``Triton basics``."""
    spaced = text.replace("_", " ")
    return spaced[:1].upper() + spaced[1:]


def value(given: Any) -> str:
    """Text unchanged, anything else as JSON."""
    if given is None:
        return "–"
    return (
        given if isinstance(given, str) else json.dumps(given, indent=1, ensure_ascii=False, sort_keys=True)
    )


def number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def clock(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


@functools.cache
def time_zones() -> list[str]:
    """Places, and UTC."""
    places = (
        timezone
        for timezone in zoneinfo.available_timezones()
        if "/" in timezone and not timezone.startswith("Etc/")
    )
    return ["UTC", *sorted(places)]


def iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def flag_words(flag: str) -> str:
    return _FLAGS.get(str(flag), words(flag))


def tone(value: VerdictWord | State) -> Tone:
    """A CSS class."""
    return _STATE_TONES[value] if isinstance(value, State) else VERDICTS[str(value)].tone


def _trimmed(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def docs_linked(text: str) -> Markup:
    """Escapes ``text`` and links our docs (``/docs/rules#limits``)."""
    linked = _DOCS.sub(r'<a href="\g<0>">\g<0></a>', str(escape(text)))
    return Markup(linked)  # noqa: S704 - escaped in the line above
