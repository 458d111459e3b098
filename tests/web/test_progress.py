"""Progress in the API, on its page, and in the list of challenges."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from grader.schemas.challenge import ChallengeList
from grader.schemas.progress import Mark, Progress
from grader.service.accounts.accounts import User
from grader.service.platform import Platform, open_platform
from tests.service.world import make_catalogue
from tests.web import builders
from tests.web.conftest import Visit

API = "/api/v1/progress"
TRACKS = """
[[tracks]]
title = "second"
description = "What comes <first>."

[[tracks]]
title = "first"
description = "What comes afterwards."
"""


@pytest.fixture
def platform(tmp_path: Path, database: str) -> Iterator[Platform]:
    """Two challenges: ``only_cuda`` in the first track, ``scale``, which builds on it, in the second."""
    catalogue = make_catalogue(tmp_path / "catalogue")
    (catalogue / "challenges" / "tracks.toml").write_text(TRACKS)
    manifest = catalogue / "challenges" / "scale" / "challenge.toml"
    manifest.write_text('prerequisites = ["only_cuda", "gone"]\n' + manifest.read_text())
    opened = open_platform(builders.make_settings(tmp_path, challenges=catalogue))
    yield opened
    opened.close()


def solve(platform: Platform, user: User, speedup: float = 1.5) -> None:
    builders.judged(platform, user, builders.accepted(speedup=speedup, challenge="scale"), challenge="scale")


class TestApi:
    def test_a_newcomer_has_no_progress(self, call: Visit, ada: User) -> None:
        found = Progress.model_validate_json(call(ada).get(API).data)
        assert (found.user, found.solved, found.attempted, found.total) == ("ada", 0, 0, 2)
        assert found.next == "only_cuda"
        assert [(track.title, track.description, track.total, track.next) for track in found.tracks] == [
            ("second", "What comes <first>.", 1, "only_cuda"),
            ("first", "What comes afterwards.", 1, "scale"),
        ]

    def test_attempted_and_solved_challenges_are_counted(
        self, call: Visit, platform: Platform, ada: User, bob: User
    ) -> None:
        wrong = builders.wrong(challenge="scale")
        builders.judged(platform, ada, wrong, challenge="scale")
        found = Progress.model_validate_json(call(ada).get(API).data)
        assert found.tracks[1].challenges[0].mark is Mark.ATTEMPTED
        assert (found.solved, found.attempted) == (0, 1)
        solve(platform, ada, 1.5)
        solve(platform, ada, 1.2)
        solve(platform, bob, 9.0)
        found = Progress.model_validate_json(call(ada).get(API).data)
        track = found.tracks[1]
        (line,) = track.challenges
        assert line.mark is Mark.SOLVED
        assert (track.solved, track.attempted, track.total, track.next) == (1, 1, 1, None)
        assert track.best is not None
        assert (track.best.speedup, track.best.device, track.best.representative) == (1.5, "cpu", False)
        assert line.missing == ["only_cuda", "gone"]
        assert found.next == "only_cuda"

    def test_only_staff_see_others_progress(
        self, call: Visit, platform: Platform, ada: User, teacher: User
    ) -> None:
        solve(platform, ada)
        assert call(None).get(API).status_code == 401
        assert call(ada).get(API, query_string={"user": "ADA"}).status_code == 200
        assert call(ada).get(API, query_string={"user": "teacher"}).status_code == 403
        assert call(ada).get(API, query_string={"user": "nobody"}).status_code == 403
        assert call(teacher).get(API, query_string={"user": "ada"}).get_json()["solved"] == 1
        assert call(teacher).get(API, query_string={"user": "nobody"}).status_code == 404

    def test_the_list_names_tracks_and_prerequisites(self, call: Visit) -> None:
        found = ChallengeList.model_validate_json(call(None).get("/api/v1/challenges").data)
        assert [track.title for track in found.tracks] == ["second", "first"]
        assert [challenge.slug for challenge in found.challenges] == ["only_cuda", "scale"]
        assert found.challenges[1].prerequisites == ["only_cuda"], "not what nobody can open"


class TestPages:
    def test_the_list_shows_tracks_to_everyone(self, visit: Visit) -> None:
        page = visit(None).get("/").text
        assert page.index("Second") < page.index("First")
        assert "What comes &lt;first&gt;." in page
        assert 'class="mark' not in page
        assert "<progress" not in page

    def test_the_list_marks_solved_challenges(self, visit: Visit, platform: Platform, ada: User) -> None:
        solve(platform, ada)
        page = visit(ada).get("/").text
        assert 'class="mark solved"' in page
        assert 'class="mark next"' in page
        assert "You have solved 1 of 2" in page
        assert page.count("<progress") == 2

    def test_the_progress_page_shows_tracks(
        self, visit: Visit, platform: Platform, ada: User, teacher: User
    ) -> None:
        solve(platform, ada)
        page = visit(ada).get("/progress").text
        assert "My progress" in page
        assert "1.50×" in page
        assert "(not representative)" in page
        assert 'Next: <a href="/challenges/only_cuda">CUDA only</a>' in page
        assert "Progress of ada" in visit(teacher).get("/progress?user=ada").text
        assert visit(ada).get("/progress?user=teacher").status_code == 403
        assert visit(None).get("/progress").status_code == 302

    def test_prerequisites_are_shown_and_lock_nothing(self, visit: Visit, ada: User) -> None:
        browser = visit(ada)
        page = browser.get("/challenges/scale").text
        assert 'Builds on <a href="/challenges/only_cuda">CUDA only</a>.' in page
        assert "builds on CUDA only, gone" in browser.get("/progress").text

    def test_no_page_needs_an_inline_script_or_style(self, visit: Visit, ada: User) -> None:
        browser = visit(ada)
        for path in ("/", "/progress"):
            assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=", browser.get(path).text), path

    def test_an_empty_catalogue_has_a_progress_page(
        self, app: Flask, platform: Platform, visit: Visit, ada: User
    ) -> None:
        for slug in platform.catalogue.slugs():
            (platform.catalogue.root / "challenges" / slug / "challenge.toml").unlink()
        browser = visit(ada)
        assert "There are no challenges yet" in browser.get("/").text
        assert "There are no challenges yet" in browser.get("/progress").text
