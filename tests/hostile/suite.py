"""Attacks and controls as data: each file is a real submission with a header.

The header (the docstring of a ``.py``, the leading ``//`` comment of a ``.cu``) has a title and these fields,
each on a line, continued on indented ones:

- ``Mechanism``, ``Surface``, ``Gain``: for people. A control has ``Looks`` instead: why it looks suspicious.
- ``Challenge``: a slug of the catalogue in tests/catalogue.
- ``Like``: the entry with the same mechanism in `make test`; this one runs only in the full matrix.
- ``Defence``: the expected ends, separated by commas: verdicts, flags, or ``charged``. If an attack ends
  otherwise, it no longer tries its mechanism, and the suite fails.
- ``Emulated``: the same on the emulated board, if different.
- ``Takes``: milliseconds of its real work. ``charged`` holds if the reported time is no less, or unknown
  (then it has no rank). Such an entry is judged up to three times, until its time is known.
- ``Case``: the one to judge (default: ``basic``), or ``all``. ``Timed: yes``: all cases, then every workload.
- ``Judged``: how many times in a row, in separate boxes; the last one counts.
- ``On``: ``cpu``, ``gpu`` or both (default: Triton on ``cpu``, CUDA on ``gpu``). Entries for a GPU are also
  judged on the emulated one; ``emulated``: only there.
- ``Limits``: names and values of ``grader.limits`` for this entry, for a bomb to end sooner.
- ``Secret``: files of the host, or ``environment`` (the judge's), which must not appear in the report.
- ``Box``: ``docker`` if a plain process could really harm the host: it runs only in boxes with walls.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.device_kinds import CPU, EMULATED
from grader.languages import Language

FOLDER = Path(__file__).resolve().parent
ATTACKS, CONTROLS = FOLDER / "attacks", FOLDER / "controls"
CONTROL = "control"
# Judged as submissions. Attacks on the service speak HTTP, see ``tests/hostile/service.py``.
SURFACES = ("clock", "replay", "answers", "verdict", "specification", "compile", "box")
# Their tests need boxes that nobody else uses.
OF_BOXES = ("compile", "box")
CHARGED = "charged"

_FIELD = re.compile(r"^(?P<name>[A-Z][a-z]+): (?P<value>.*(?:\n[ \t]+.*)*)", re.M)
_NEEDED = ("Mechanism", "Surface", "Gain", "Challenge", "Defence")
_NEEDED_OF_CONTROL = ("Looks", "Challenge")
_LANGUAGES = {language.suffix: language for language in Language}


@dataclass(frozen=True)
class Entry:
    name: str
    #: Its folder, or CONTROL.
    surface: str
    language: Language
    source: str
    title: str
    #: The header's fields by name, each joined to one line.
    fields: Mapping[str, str]

    @property
    def defence(self) -> frozenset[str]:
        return frozenset(_words(self.fields.get("Defence", "")))

    def defence_on(self, device: str) -> frozenset[str]:
        words = self.fields.get("Emulated") if device == EMULATED else None
        return frozenset(_words(words)) if words is not None else self.defence

    @property
    def devices(self) -> frozenset[str]:
        default = "cpu" if self.language is Language.TRITON else "gpu"
        return frozenset(_words(self.fields.get("On", default)))

    def runs_on(self, device: str) -> bool:
        kinds = {CPU: {"cpu"}, EMULATED: {"gpu", "emulated"}}.get(device, {"gpu"})
        return bool(kinds & self.devices)

    @property
    def timed(self) -> bool:
        return self.fields.get("Timed") == "yes"

    @property
    def case(self) -> str | None:
        """None for all."""
        name = self.fields.get("Case", "all" if self.timed or self.surface == CONTROL else "basic")
        return None if name == "all" else name

    @property
    def like(self) -> str:
        """The entry of `make test` with the same mechanism; empty if that is this one."""
        return self.fields.get("Like", "")

    @property
    def takes_us(self) -> float | None:
        text = self.fields.get("Takes")
        return float(text.removesuffix("ms")) * 1e3 if text else None

    @property
    def judged(self) -> int:
        return int(self.fields.get("Judged", "1"))

    @property
    def walls_only(self) -> bool:
        return self.fields.get("Box") == "docker"

    @property
    def limits(self) -> dict[str, float]:
        pairs = (words.split() for words in _words(self.fields.get("Limits", "")))
        return {name: float(value) for name, value in pairs}

    @property
    def secrets(self) -> list[str]:
        return _words(self.fields.get("Secret", ""))


class HeaderInvalid(Exception):
    """A file of the suite does not say what it must."""


def load(only: tuple[str, ...] = ()) -> list[Entry]:
    """All attacks, by surface and name, then all controls. ``only``: beginnings of names, or surfaces."""
    files = [(surface, path) for surface in SURFACES for path in _sources(ATTACKS / surface)]
    files += [(CONTROL, path) for path in _sources(CONTROLS)]
    entries = [read(path, surface) for surface, path in files]
    return [entry for entry in entries if not only or entry.surface in only or entry.name.startswith(only)]


def read(path: Path, surface: str) -> Entry:
    source, language = path.read_text(), _LANGUAGES[path.suffix]
    header = (ast.get_docstring(ast.parse(source)) or "") if language is Language.TRITON else _comment(source)
    fields = {match["name"]: " ".join(match["value"].split()) for match in _FIELD.finditer(header)}
    needed = _NEEDED_OF_CONTROL if surface == CONTROL else _NEEDED
    if missing := [name for name in needed if not fields.get(name)]:
        raise HeaderInvalid(f"{path.name}: its header lacks {', '.join(missing)}")
    return Entry(path.stem, surface, language, source, header.partition("\n")[0].rstrip("."), fields)


def _sources(folder: Path) -> Iterator[Path]:
    yield from sorted(
        path for path in folder.glob("*") if path.suffix in _LANGUAGES and path.stem != "__init__"
    )


def _comment(source: str) -> str:
    lines = []
    for line in source.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line.removeprefix("//").removeprefix(" "))
    return textwrap.dedent("\n".join(lines))


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
