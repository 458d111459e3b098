"""The staff's way from one version of a challenge to the next, over API and page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from grader.schemas.submission import Leaderboard, SubmissionView
from grader.schemas.version import Comparison, Rejudge, VersionContent, VersionList
from grader.service.accounts.accounts import User
from grader.service.platform import Platform, open_platform
from tests.service.world import make_catalogue
from tests.web import builders
from tests.web.conftest import Visit, csrf

CHALLENGE = "/api/v1/challenges/scale"
PAGE = "/challenges/scale/versions"


@pytest.fixture
def platform(tmp_path: Path, database: str) -> Iterator[Platform]:
    catalogue = make_catalogue(tmp_path / "catalogue")
    opened = open_platform(builders.make_settings(tmp_path, challenges=catalogue))
    yield opened
    opened.close()


def edit(platform: Platform, old: str, new: str) -> None:
    path = platform.catalogue.root / "challenges" / "scale" / "challenge.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.fixture
def first(platform: Platform, ada: User) -> SubmissionView:
    """Judged under version 1; then the folder got version 2."""
    view = builders.judged(platform, ada, builders.accepted(challenge="scale"), challenge="scale")
    edit(platform, "version = 1", "version = 2")
    edit(platform, "value = 2.0", "value = 4.0")
    return view


def judge(platform: Platform, time_us: float) -> None:
    report = builders.accepted(time_us=time_us, challenge="scale", version=2)
    builders.finish(platform, builders.take(platform), report)


def board(client: FlaskClient, **query: int) -> tuple[int, list[str]]:
    found = Leaderboard.model_validate_json(client.get("/api/v1/leaderboards/scale", query_string=query).data)
    return found.version, [entry.submission for entry in found.entries]


class TestApi:
    def test_a_version_is_rejudged_compared_and_published(
        self, call: Visit, platform: Platform, first: SubmissionView, ada: User, teacher: User
    ) -> None:
        staff, student = call(teacher), call(ada)
        ordered = Rejudge.model_validate_json(staff.post(f"{CHALLENGE}/rejudge", json={}).data)
        assert (ordered.version, ordered.queued, ordered.waiting) == (2, 1, 1)
        refused = staff.post(f"{CHALLENGE}/publish", json={})
        assert (refused.status_code, refused.get_json()["error"]["code"]) == (409, "conflict")
        judge(platform, 1625.0)
        found = Comparison.model_validate_json(staff.get(f"{CHALLENGE}/comparison").data)
        assert (found.judged, found.median_time_ratio) == (1, 2.0)
        assert board(student) == (1, [first.id])
        assert student.get("/api/v1/leaderboards/scale?version=2").status_code == 404
        assert board(staff, version=2)[0] == 2

        published = VersionList.model_validate_json(staff.post(f"{CHALLENGE}/publish", json={}).data)
        assert [(item.version, item.shown, item.judged) for item in published.versions] == [
            (1, False, 1),
            (2, True, 1),
        ]
        version, (entry,) = board(student)
        assert version == 2
        assert entry != first.id
        view = SubmissionView.model_validate_json(student.get(f"/api/v1/submissions/{first.id}").data)
        assert [each.id for each in view.judged_again] == [entry]
        assert student.get("/api/v1/submissions").get_json()["total"] == 1

    def test_submitting_to_a_changed_folder_is_refused(
        self, call: Visit, platform: Platform, ada: User
    ) -> None:
        builders.judged(platform, ada, builders.accepted(challenge="scale"), challenge="scale")
        edit(platform, "value = 2.0", "value = 4.0")
        sent = {"challenge": "scale", "source": "x = 1\n", "filename": "a.py"}
        answer = call(ada).post("/api/v1/submissions", json=sent)
        assert (answer.status_code, answer.get_json()["error"]["code"]) == (409, "challenge_changed")

    def test_a_versions_content_is_returned(self, call: Visit, first: SubmissionView, teacher: User) -> None:
        found = VersionContent.model_validate_json(call(teacher).get(f"{CHALLENGE}/versions/1").data)
        assert set(found.content["cases"]) == {"seven", "ones"}
        assert call(teacher).get(f"{CHALLENGE}/versions/9").status_code == 404
        assert call(teacher).get(f"{CHALLENGE}/versions/{2**40}").status_code == 400

    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("GET", "versions"),
            ("GET", "versions/1"),
            ("GET", "comparison"),
            ("POST", "rejudge"),
            ("POST", "publish"),
        ],
    )
    def test_only_staff_manage_versions(
        self, call: Visit, first: SubmissionView, ada: User, method: str, path: str
    ) -> None:
        given = {} if method == "GET" else {"json": {}}
        for user, status in ((None, 401), (ada, 403)):
            assert call(user).open(f"{CHALLENGE}/{path}", method=method, **given).status_code == status


class TestPage:
    def test_a_version_is_published_on_the_page(
        self, visit: Visit, platform: Platform, first: SubmissionView, ada: User, teacher: User
    ) -> None:
        staff, student = visit(teacher), visit(ada)
        page = staff.get(PAGE).text
        assert "From version 1 to version 2" in page
        assert "What the folder changed since version 1" in page
        assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=", page)
        token = csrf(staff, PAGE)
        answer = staff.post("/challenges/scale/rejudge", data={"csrf_token": token, "ranked": "1"})
        assert (answer.status_code, answer.location) == (303, PAGE)
        assert "Publish without waiting" in staff.get(PAGE).text
        answer = staff.post("/challenges/scale/publish", data={"csrf_token": token})
        assert answer.status_code == 409
        assert "still being judged again" in answer.text
        judge(platform, 1625.0)
        page = staff.get(PAGE).text
        assert "Publish version 2" in page
        assert "2.00×" in page
        assert "version 1</a>" not in student.get("/leaderboards/scale").text
        assert "the one of version 1 is shown" in student.get("/challenges/scale").text

        answer = staff.post("/challenges/scale/publish", data={"csrf_token": token})
        assert answer.status_code == 303
        assert "Publish version" not in staff.get(PAGE).text
        page = student.get("/leaderboards/scale").text
        assert "version 2." in page
        assert 'aria-current="true">version 2</a>' in page
        assert "version 1." in student.get("/leaderboards/scale?version=1").text
        assert "is shown" not in student.get("/challenges/scale").text
        page = student.get(f"/submissions/{first.id}").text
        assert "Judged again under version 2" in page

    def test_a_changed_folder_under_its_old_number_is_reported(
        self, visit: Visit, platform: Platform, ada: User, teacher: User
    ) -> None:
        builders.judged(platform, ada, builders.accepted(challenge="scale"), challenge="scale")
        edit(platform, "value = 2.0", "value = 4.0")
        assert "The manifest still says version 1" in visit(teacher).get(PAGE).text

    def test_students_see_neither_page_nor_link(
        self, visit: Visit, first: SubmissionView, ada: User, teacher: User
    ) -> None:
        student = visit(ada)
        assert student.get(PAGE).status_code == 403
        assert PAGE not in student.get("/challenges/scale").text
        assert PAGE in visit(teacher).get("/challenges/scale").text
        token = csrf(student, "/challenges/scale")
        for act in ("rejudge", "publish"):
            answer = student.post(f"/challenges/scale/{act}", data={"csrf_token": token})
            assert answer.status_code == 403
        assert visit(None).get(PAGE).status_code == 302

    @pytest.mark.parametrize("version", ["0", "x", "-3", "99999999999999"])
    def test_any_version_number_in_an_address_gets_an_answer(
        self, visit: Visit, ada: User, first: SubmissionView, version: str
    ) -> None:
        assert visit(ada).get(f"/leaderboards/scale?version={version}").status_code == 200
