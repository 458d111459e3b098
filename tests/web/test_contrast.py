"""The style sheets' colours: readable text in both themes, and colours in one place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.languages import Language

STATIC = Path(__file__).parents[2] / "web" / "static"
# WCAG 2.2, level AA: 1.4.3 for text, 1.4.11 for borders of fields and the focus mark.
TEXT, EDGE = 4.5, 3.0
LIGHT, DARK = 0, 1
GROUNDS = ("bg", "surface", "sunken")
TONES = ("good", "bad", "ours", "busy", "idle")
CODE = ("keyword", "name", "string", "number", "comment", "type", "macro")
_PAIR = re.compile(r"--([\w-]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\);")
_RULE = re.compile(r"[^{}]+\{([^{}]*)\}")


def tokens() -> dict[str, tuple[str, str]]:
    found = _PAIR.findall((STATIC / "tokens.css").read_text())
    of_languages = {
        language.value: (language.colours[0].lstrip("#"), language.colours[1].lstrip("#"))
        for language in Language
    }
    return {name: (light, dark) for name, light, dark in found} | of_languages


def luminance(colour: str) -> float:
    """Relative luminance of six hexadecimal digits of sRGB, by WCAG's formula."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def of_text() -> list[tuple[str, str]]:
    """Every pair of tokens used for text: (text, ground)."""
    everywhere = ("text", "muted", "accent", *TONES)
    return [
        *((text, ground) for text in everywhere for ground in GROUNDS),
        *((tone, f"{tone}-soft") for tone in TONES),
        *(("text", f"{tone}-soft") for tone in (*TONES, "accent")),
        *((f"c-{kind}", ground) for kind in CODE for ground in ("surface", "sunken", "ours-soft")),
        *(("on-medal", medal) for medal in ("gold", "silver", "bronze")),
        ("accent", "accent-soft"),
        ("muted", "accent-soft"),
        ("muted", "ours-soft"),
        ("muted", "idle-soft"),
        ("on-accent", "accent"),
        ("surface", "good"),
        ("bg", "text"),
    ]


def of_edges() -> list[tuple[str, str]]:
    return [
        *((edge, ground) for edge in ("edge", "accent", "busy", "good") for ground in GROUNDS),
        *((mark, "surface") for mark in ("violet", *Language)),
    ]


def failures(pairs: list[tuple[str, str]], least: float) -> list[str]:
    known = tokens()
    return [
        f"{front} on {ground}, {('light', 'dark')[theme]}: {contrast(known[front][theme], known[ground][theme]):.2f}"
        for front, ground in pairs
        for theme in (LIGHT, DARK)
        if contrast(known[front][theme], known[ground][theme]) < least
    ]


def test_the_contrast_formula_matches_wcag() -> None:
    """Figures from WCAG and its techniques."""
    assert contrast("000000", "ffffff") == pytest.approx(21)
    assert contrast("767676", "ffffff") == pytest.approx(4.54, abs=0.01)
    assert contrast("777777", "ffffff") == pytest.approx(4.48, abs=0.01)


def test_text_is_readable_in_both_themes() -> None:
    assert failures(of_text(), TEXT) == []


def test_edges_are_visible_in_both_themes() -> None:
    assert failures(of_edges(), EDGE) == []


def test_text_is_readable_on_the_background_of_its_rule() -> None:
    """Every pair that a style sheet sets in one rule."""
    known, found = tokens(), set()
    for sheet in STATIC.glob("*.css"):
        for body in _RULE.findall(sheet.read_text()):
            front = re.search(r"(?<![-\w])color: var\(--([\w-]+)\)", body)
            ground = re.search(r"background(?:-color)?: var\(--([\w-]+)\)", body)
            # A progress bar's colour is that of its bar.
            if front and ground and "appearance: none" not in body and {front[1], ground[1]} <= known.keys():
                found.add((front[1], ground[1]))
    assert found
    assert failures(sorted(found), TEXT) == []


def test_colours_are_defined_in_one_place() -> None:
    literal = re.compile(r"#[0-9a-fA-F]{3,8}\b(?=[^{]*\})|(?:rgb|hsl|oklch)a?\(|prefers-color-scheme")
    found = {
        f"{sheet.name}: {hit}"
        for sheet in STATIC.glob("*.css")
        if sheet.name != "tokens.css"
        for hit in literal.findall(sheet.read_text())
    }
    assert found == set()
