from __future__ import annotations

import codecs
from collections.abc import Collection

from grader import limits
from grader.errors import BadSource, UnknownLanguage
from grader.languages import Language, names


def decode(raw: bytes) -> str:
    """Raises BadSource: empty, too large, binary, not UTF-8."""
    if len(raw) > limits.SOURCE_BYTES:
        raise BadSource(
            f"The source has {len(raw):,} bytes; at most {limits.SOURCE_BYTES:,} are taken.",
            "Leave out data and generated tables.",
        )
    if not raw.strip():
        raise BadSource("The source is empty.", "`grader init SLUG` writes a starter file to begin from.")
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise BadSource("The file is UTF-16.", "Save it as UTF-8.")
    if b"\0" in raw:
        raise BadSource(
            "The file is binary (it holds NUL bytes).", "Submit the source text, not a compiled file."
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise BadSource(
            f"The file is not UTF-8: byte 0x{raw[error.start]:02x} in line {line}.",
            "Save it as UTF-8.",
        ) from error


def language_of(filename: str, chosen: str | None) -> Language:
    """The chosen language, else that of the file's suffix. Raises UnknownLanguage."""
    if chosen is not None:
        try:
            return Language.named(chosen)
        except ValueError as error:
            raise UnknownLanguage(str(error), f"Languages: {names()}.") from error
    found = Language.of_file(filename)
    if found is None:
        endings = " or ".join(language.suffix for language in Language)
        raise UnknownLanguage(
            f"The suffix of '{filename}' does not belong to a language.",
            f"End it in {endings}, or name the language.",
        )
    return found


def check_taken(challenge: str, taken: Collection[Language], language: Language) -> None:
    """Raises UnknownLanguage if ``challenge`` takes only other languages."""
    if language not in taken:
        raise UnknownLanguage(
            f"{challenge} does not take {language.value}.",
            f"It takes: {', '.join(language.value for language in taken)}.",
        )
