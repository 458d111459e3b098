"""Chapters of a catalogue: the path through it has no jumps, and a broken chapter is named."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from grader.challenge import drawings
from grader.challenge.catalogue import Catalogue, find_catalogue
from grader.challenge.chapters import path_problems
from grader.errors import ChallengeInvalid

CHAPTER = """
title = "Warps"
summary = "32 threads."
order = 1
explains = ["warps"]
[[exercises]]
name = "count"
kind = "number"
title = "Count"
text = "How many?"
source = "count.cu"
challenge = "scale"
"""
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><title>T</title>{}</svg>'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "challenges" / "chapters" / "warps"
    found.mkdir(parents=True)
    (found / "chapter.toml").write_text(CHAPTER)
    (found / "text.md").write_text("# Warps\n\n{exercise: count}\n")
    (found / "count.cu").write_text("// nothing\n")
    return found


def broken(folder: Path) -> str:
    (found,) = Catalogue(folder.parents[2]).broken()
    assert found.slug == "chapters/warps"
    return found.error.message


def test_our_path_has_no_jumps() -> None:
    catalogue = find_catalogue()
    headed = [(track.title, track.chapters) for track in catalogue.curriculum.tracks]
    assert path_problems(catalogue.chapters(), catalogue.all(), headed) == []
    assert catalogue.broken() == []
    for chapter in catalogue.chapters():
        assert chapter.challenges(catalogue.all()), f"no challenge uses {chapter.slug}"


def test_jumps_are_named() -> None:
    catalogue = find_catalogue()
    challenges = catalogue.all()
    (first, *_) = catalogue.chapters()
    manifest = first.manifest.model_copy(update={"needs": ["later"], "explains": ["matrix"]})
    found = path_problems(
        [replace(first, manifest=manifest)], challenges, [("memory", []), ("capstone", [first.slug, "gone"])]
    )
    assert f"chapter '{first.slug}' comes before ['later'], which it needs" in found
    assert "'transpose' needs 'matrix' before a chapter explains it" in found
    assert "track 'capstone': there is no chapter 'gone'" in found


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("chapter.toml", CHAPTER.replace('kind = "number"', 'kind = "guess"'), "exercises.0.kind"),
        ("chapter.toml", CHAPTER + "minutes = [\n", "not TOML"),
        ("text.md", "# Warps\n", "does not place the exercises ['count']"),
        ("text.md", "{exercise: count}\n\n{exercise: other}\n", "there is no exercise ['other']"),
        ("text.md", "{exercise: count}\n\n{drawing: gone}\n", "gone.svg: the file is missing"),
    ],
)
def test_a_broken_chapter_is_named(folder: Path, file: str, text: str, says: str) -> None:
    assert Catalogue(folder.parents[2]).broken() == []
    (folder / file).write_text(text)
    assert says in broken(folder)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ('<g data-frame="1"><script/></g>', "no <script>"),
        ('<g data-frame="1"><rect onclick="x"/></g>', "onclick"),
        ('<g data-frame="1"><rect style="x"/></g>', "style"),
        ("<g/>", "needs a <title> and groups"),
        ("<g>", "not XML"),
    ],
)
def test_a_drawing_has_plain_shapes_alone(body: str, says: str) -> None:
    with pytest.raises(ChallengeInvalid, match=says):
        drawings.read(SVG.format(body))
    with pytest.raises(ChallengeInvalid, match="DOCTYPE"):
        drawings.read('<!DOCTYPE svg [<!ENTITY a "b">]>' + SVG.format(""))


def test_a_drawing_becomes_a_picture_for_each_frame() -> None:
    frames = (
        '<rect width="9"/><g data-frame="2" data-caption="B"/><g data-frame="1" data-caption="A"><line/></g>'
    )
    found = drawings.read(SVG.format(frames)).frames
    assert [frame.caption for frame in found] == ["A", "B"]
    assert [frame.picture.count("<line") for frame in found] == [1, 0]
    assert [frame.picture.count("<rect") for frame in found] == [1, 1]


def test_a_spec_has_drawings(tmp_path: Path) -> None:
    ours = Path(__file__).parents[1] / "catalogue"
    shutil.copytree(ours, tmp_path, dirs_exist_ok=True)
    catalogue = Catalogue(tmp_path)
    folder = tmp_path / "challenges" / "twice"
    with (folder / "spec.md").open("a") as spec:
        spec.write("\n{drawing: doubled}\n")
    assert [found.error.message for found in catalogue.broken()] == [
        f"{folder / 'doubled.svg'}: the file is missing"
    ]
    (folder / "doubled.svg").write_text(SVG.format("<script/>"))
    (found,) = catalogue.broken()
    assert found.error.message == f"{folder / 'doubled.svg'}: a drawing has no <script>"
    (folder / "doubled.svg").write_text(SVG.format('<g data-frame="1" data-caption="Before &amp; after"/>'))
    assert catalogue.broken() == []
    challenge = catalogue.load("twice")
    assert drawings.in_words(challenge.spec, challenge.drawings).endswith("\n**T**\n\n1. Before & after\n")
