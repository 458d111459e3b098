"""Pages colour every language as its row says, also one that style sheets do not know."""

from __future__ import annotations

import re
from pathlib import Path

from flask import Flask

from grader.languages import LANGUAGES

STATIC = Path(__file__).parents[2] / "web" / "static"


def test_pages_load_the_colours_of_every_row(app: Flask) -> None:
    browser = app.test_client()
    found = re.search(r'href="(/static/languages\.css\?v=\w+)"', browser.get("/challenges").text)
    assert found
    answer = browser.get(found[1])
    assert answer.mimetype == "text/css"
    assert answer.cache_control.public
    assert answer.cache_control.max_age == app.config["SEND_FILE_MAX_AGE_DEFAULT"]
    assert "Set-Cookie" not in answer.headers
    for language in LANGUAGES.values():
        light, dark = language.colours
        name = language.value
        rule = f".language.{name}, progress.{name} {{ --language: light-dark({light}, {dark}); }}"
        assert rule in answer.text


def test_no_static_style_sheet_names_a_language_for_its_colour() -> None:
    sheets = "".join(sheet.read_text() for sheet in STATIC.glob("*.css"))
    assert "var(--language, " in sheets
    assert [name for name in LANGUAGES if f"--{name}" in sheets or f".language.{name}" in sheets] == []
