"""The style sheets colour every language as its row says."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.languages import LANGUAGES, Language

STATIC = Path(__file__).parents[2] / "web" / "static"
BUILT_IN = list(LANGUAGES.values())


@pytest.mark.parametrize("language", BUILT_IN)
def test_style_sheets_have_the_colours_of_the_row(language: Language) -> None:
    light, dark = language.colours
    name = language.value
    assert f"--{name}: light-dark({light}, {dark});" in (STATIC / "tokens.css").read_text()
    assert f".language.{name}::before {{ background: var(--{name}); }}" in (STATIC / "parts.css").read_text()
    profile = (STATIC / "profile.css").read_text()
    for part in ("webkit-progress-value", "moz-progress-bar"):
        assert f"progress.{name}::-{part} {{ background: var(--{name}); }}" in profile
