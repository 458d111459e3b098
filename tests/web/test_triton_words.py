"""What the editor knows of Triton's language, as scripts/triton_words.py reads it from the installed Triton."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts import triton_words

DOCSTRING = """Adds :code:`x` to ``y``.

.. code-block:: python

    z = add(x, y)

Second `part <https://example.org>`_.

This function can also be called as a member function on x.

:param x: the first
    value
:type x: Block
:param y: `the other`
:note: nothing
"""


def test_a_docstring_becomes_text_and_parameters() -> None:
    about, parameters = triton_words.read(DOCSTRING)
    assert about == "Adds x to `y`.\nSecond part."
    assert parameters == {"x": "the first value", "y": "`the other`"}


def test_the_language_is_there_with_its_licence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("triton")
    target = tmp_path / "built" / "triton.json"
    for _ in range(2):
        assert triton_words.main(target) == 0
    assert capsys.readouterr().out.count("words of Triton") == 1, "an up-to-date file stays"
    words = json.loads(target.read_text())
    entries = words["entries"]
    assert entries["tl.load"]["signature"].startswith("tl.load(pointer, mask=None, other=None, ")
    assert {"pointer", "mask", "other"} <= set(entries["tl.load"]["parameters"])
    assert entries["tl.float32"]["about"] == "A float of 32 bits."
    assert {"tl.dot", "tl.program_id", "tl.arange", "tl.sum", "triton.jit", "triton.autotune"} <= set(entries)
    for entry in entries.values():
        assert entry["about"]
        assert ":code:" not in entry["about"]
        assert "_semantic" not in entry["signature"]
    assert "Permission is hereby granted" in words["licence"]
