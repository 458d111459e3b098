"""A challenge's folder breaks while the platform runs: staff see the fault and its place, everyone else that
it is not theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.service.accounts.accounts import User
from grader.service.platform import Platform, open_platform
from tests.service.world import make_catalogue
from tests.web import builders
from tests.web.conftest import Visit

SENT = {"challenge": "scale", "source": "x = 1\n", "filename": "a.py"}


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    catalogue = make_catalogue(tmp_path / "catalogue")
    opened = open_platform(builders.make_settings(tmp_path, challenges=catalogue))
    (catalogue / "challenges" / "scale" / "challenge.toml").write_text('title = "Scale"\nversion = "one"\n')
    yield opened
    opened.close()


def test_only_staff_see_the_alert(visit: Visit, ada: User, teacher: User) -> None:
    page = visit(teacher).get("/").text
    assert "scale is broken:" in page
    assert "challenge.toml: version" in page
    assert "grader challenge check scale" in page
    for user in (ada, None):
        page = visit(user).get("/").text
        assert "broken" not in page
        assert "CUDA only" in page


def test_staff_pages_have_a_banner_and_the_metric_counts(visit: Visit, ada: User, teacher: User) -> None:
    for path in ("/submissions", "/leaderboards", "/people"):
        assert "1 challenge is broken:" in visit(teacher).get(path).text
    assert "broken" not in visit(ada).get("/submissions").text
    ready = visit(None).get("/ready")
    assert ready.status_code == 200
    assert ready.json == {"ok": True, "detail": "1 broken challenge: `grader doctor`"}


def test_requests_for_a_broken_challenge_get_a_clear_error(
    call: Visit, visit: Visit, ada: User, teacher: User
) -> None:
    program = call(ada)
    for answer in (program.post("/api/v1/submissions", json=SENT), program.get("/api/v1/challenges/scale")):
        assert answer.status_code == 503
        error = answer.json["error"]
        assert (error["code"], "/" in error["message"]) == ("challenge_invalid", False), (
            "no path of this machine"
        )
        assert "its folder on the server is broken" in error["message"]
    assert "its folder on the server is broken" in visit(ada).get("/challenges/scale").text
    told = call(teacher).get("/api/v1/challenges/scale").json["error"]["message"]
    assert "scale/challenge.toml: version" in told


def test_health_shows_details_to_staff_only(call: Visit, teacher: User) -> None:
    assert "scale is broken" in call(teacher).get("/api/v1/health").json["alerts"][0]["text"]
    assert "scale" not in call(None).get("/api/v1/health").text


def test_an_empty_catalogue_shows_staff_how_to_start(visit: Visit, teacher: User, platform: Platform) -> None:
    for path in sorted((platform.catalogue.root / "challenges").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    page = visit(teacher).get("/").text
    assert "has no challenges" in page
    assert "grader challenge new NAME" in page
