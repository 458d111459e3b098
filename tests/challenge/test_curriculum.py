"""Tracks and prerequisites: the message of each mistake, and the catalogue's order."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.challenge.catalogue import Catalogue, find_catalogue
from grader.challenge.curriculum import read_curriculum
from grader.errors import ChallengeInvalid
from tests.challenge.conftest import MANIFEST, Write

TRACKS = """
[[tracks]]
title = "tests"
description = "What tests need."

[[tracks]]
title = "a later one"
description = "What comes after."
"""


@pytest.fixture
def catalogue(write: Write, tmp_path: Path) -> Catalogue:
    write()
    return Catalogue(tmp_path)


def add(catalogue: Catalogue, slug: str, **keys: str) -> None:
    """Adds a challenge with some ``keys`` of its manifest replaced, without other files."""
    folder = catalogue.root / "challenges" / slug
    folder.mkdir(exist_ok=True)
    lines = MANIFEST.splitlines()
    for key, value in keys.items():
        lines = [line for line in lines if not line.startswith(f"{key} =")]
        lines.insert(0, f"{key} = {value}")
    (folder / "challenge.toml").write_text("\n".join(lines))


def write_tracks(catalogue: Catalogue, text: str) -> None:
    (catalogue.root / "challenges" / "tracks.toml").write_text(text)


def test_our_catalogue_uses_exactly_the_curriculums_tracks() -> None:
    titles = [track.title for track in find_catalogue().curriculum.tracks]
    assert titles == [
        "fundamentals",
        "memory",
        "parallel patterns",
        "Triton basics",
        "deep-learning kernels",
        "attention",
        "mixed precision",
        "sparse",
        "training",
        "several GPUs",
        "capstone",
    ]


def test_no_two_of_our_challenges_share_a_place_in_a_track() -> None:
    places: dict[tuple[str, int], list[str]] = {}
    for challenge in find_catalogue().all():
        places.setdefault((challenge.manifest.track, challenge.manifest.order), []).append(challenge.slug)
    assert {place: slugs for place, slugs in places.items() if len(slugs) > 1} == {}


def test_our_prerequisites_come_before_their_challenges() -> None:
    """In an earlier track, or earlier in its own."""
    slugs = [challenge.slug for challenge in find_catalogue().all()]
    for challenge in find_catalogue().all():
        known = slugs[: slugs.index(challenge.slug)]
        assert [slug for slug in challenge.manifest.prerequisites if slug not in known] == [], challenge.slug


def test_challenges_come_in_the_order_of_the_tracks(catalogue: Catalogue) -> None:
    add(catalogue, "ahead", track='"a later one"', order="1")
    assert [challenge.slug for challenge in catalogue_with(catalogue, TRACKS).all()] == ["rows", "ahead"]
    assert [challenge.slug for challenge in catalogue_with(catalogue, None).all()] == ["ahead", "rows"]


def catalogue_with(catalogue: Catalogue, tracks: str | None) -> Catalogue:
    path = catalogue.root / "challenges" / "tracks.toml"
    path.unlink(missing_ok=True)
    if tracks is not None:
        path.write_text(tracks)
    return catalogue


def test_a_track_must_be_in_the_file(catalogue: Catalogue) -> None:
    write_tracks(catalogue, TRACKS)
    add(catalogue, "lost", track='"elsewhere"')
    with pytest.raises(ChallengeInvalid, match=r"lost/challenge\.toml: track: .*'elsewhere'") as caught:
        catalogue.load("lost")
    assert "tests, a later one" in caught.value.hint
    assert catalogue.load("rows").manifest.track == "tests"


def test_without_the_file_any_track_is_right(catalogue: Catalogue) -> None:
    add(catalogue, "lost", track='"elsewhere"')
    assert catalogue.load("lost").manifest.track == "elsewhere"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("tracks = [", "not TOML"),
        ("tracks = []", "tracks:"),
        ('[[tracks]]\ntitle = "tests"\n', "tracks.0.description:"),
        ('[[tracks]]\ntitle = "tests"\ndescription = "x"\nicon = "y"\n', "tracks.0.icon:"),
        (TRACKS + TRACKS, "tracks: .* more than once"),
    ],
)
def test_a_bad_tracks_file_is_reported_with_file_and_key(catalogue: Catalogue, text: str, key: str) -> None:
    write_tracks(catalogue, text)
    with pytest.raises(ChallengeInvalid, match=rf"tracks\.toml: {key}"):
        read_curriculum(catalogue.root / "challenges" / "tracks.toml")
    with pytest.raises(ChallengeInvalid, match=r"tracks\.toml"):
        catalogue.all()
    assert catalogue.load("rows").slug == "rows", "it must not stop every challenge of a platform"


def test_a_prerequisite_must_exist_when_the_catalogue_loads(catalogue: Catalogue) -> None:
    add(catalogue, "second", prerequisites='["rows", "missing"]')
    with pytest.raises(ChallengeInvalid, match=r"second/challenge\.toml: prerequisites: .*\['missing'\]"):
        catalogue.all()
    assert catalogue.load("second").manifest.prerequisites == ["rows", "missing"]


def test_prerequisites_must_not_form_a_cycle(catalogue: Catalogue) -> None:
    add(catalogue, "a", prerequisites='["b"]')
    add(catalogue, "b", prerequisites='["rows", "c"]')
    add(catalogue, "c", prerequisites='["a"]')
    with pytest.raises(ChallengeInvalid, match=r"a/challenge\.toml: prerequisites: .*a -> b -> c -> a"):
        catalogue.all()


def test_two_paths_to_one_challenge_are_no_cycle(catalogue: Catalogue) -> None:
    add(catalogue, "a", prerequisites='["rows"]')
    add(catalogue, "b", prerequisites='["rows"]')
    add(catalogue, "c", prerequisites='["a", "b"]')
    assert len(catalogue.all()) == 4


def test_a_challenge_must_not_need_itself(catalogue: Catalogue) -> None:
    add(catalogue, "a", prerequisites='["a"]')
    with pytest.raises(ChallengeInvalid, match="a -> a"):
        catalogue.all()
