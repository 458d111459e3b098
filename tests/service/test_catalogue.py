from __future__ import annotations

from pathlib import Path

import pytest

from grader.challenge.views import installed_versions
from grader.errors import NotAllowed, UnknownChallenge
from grader.records import workers
from grader.records.engine import writing
from grader.records.models import ReportRow, utcnow
from grader.schemas.report import Language
from grader.service.accounts import User
from grader.service.catalogue import get_challenge, list_challenges
from grader.service.exposure import check_exposure
from grader.service.health import health
from grader.service.platform import Platform, open_platform
from tests.records.rows import add_submission, wrong
from tests.service.world import make_settings


def test_challenges_come_by_track_and_a_broken_one_hides_no_other(platform: Platform) -> None:
    broken = platform.course.root / "challenges" / "broken"
    broken.mkdir()
    (broken / "challenge.toml").write_text("title = 3")
    assert [it.slug for it in list_challenges(platform).challenges] == ["scale", "only_cuda"]


def test_a_challenge_says_in_words_what_its_cases_hold(platform: Platform) -> None:
    shown = get_challenge(platform, "scale")
    seven, ones = shown.cases
    assert seven.inputs == {"a": "uniform from 0 to 7", "i": "whole numbers from 0 to 7", "alpha": "0.5"}
    assert ones.inputs["a"] == "1 everywhere"
    assert (seven.sizes, seven.note, shown.hidden_cases) == ({"n": 7}, "a prime", 0)


def test_a_challenge_is_shown_whole_and_its_reference_is_not_run(platform: Platform) -> None:
    shown = get_challenge(platform, "scale")
    assert "must not run" in shown.reference
    assert shown.signatures[Language.TRITON] == "def solve(a, i, out, alpha, n)"
    assert set(shown.starters) == set(shown.languages) == set(Language)
    assert shown.served == [Language.TRITON]
    assert get_challenge(platform, "only_cuda").served == []


def test_a_platform_with_a_gpu_serves_both(tmp_path: Path, redis_url: str) -> None:
    platform = open_platform(make_settings(tmp_path, redis_url, devices="cpu,h200"))
    assert get_challenge(platform, "scale").served == [Language.CUDA, Language.TRITON]
    platform.close()


def test_a_challenge_names_the_versions_that_judged_last(platform: Platform, student: User) -> None:
    """Before anything was judged, those of this machine."""
    assert get_challenge(platform, "scale").judged_with == installed_versions()
    row = add_submission(platform.sessions, student.id, language=Language.TRITON)
    cuda = add_submission(platform.sessions, student.id, language=Language.CUDA)
    told = {"box_python": "3.12.1", "box_triton": "3.6.0", "system": "Linux"}
    with writing(platform.sessions) as session:
        for submission, environment in ((row, told), (cuda, {"box_python": "3.10"})):
            body = wrong().model_copy(update={"environment": environment}).model_dump_json()
            session.add(ReportRow(submission_id=submission, attempt=1, body=body))
    assert get_challenge(platform, "scale").judged_with == {"python": "3.12.1", "triton": "3.6.0"}


def test_no_such_challenge(platform: Platform) -> None:
    with pytest.raises(UnknownChallenge):
        get_challenge(platform, "nope")


def test_health_names_the_part_that_is_away(platform: Platform) -> None:
    seen = health(platform)
    assert {name: part.ok for name, part in seen.parts.items()} == {
        "database": True,
        "queue": True,
        "workers": False,
    }
    assert not seen.ok
    with writing(platform.sessions) as session:
        workers.register(session, "w", "cpu", [Language.TRITON], utcnow())
    assert health(platform).ok


def test_health_without_redis_and_database(tmp_path: Path) -> None:
    platform = open_platform(make_settings(tmp_path, f"unix://{tmp_path}/none.sock"))
    assert not health(platform).parts["queue"].ok
    platform.close()
    away = make_settings(tmp_path, "", database_url=f"postgresql://nobody@/none?host={tmp_path}")
    platform = open_platform(away, migrate=False)
    assert not health(platform).parts["database"].ok
    platform.close()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.5", "example.org"])
def test_plain_processes_are_not_exposed(host: str) -> None:
    with pytest.raises(NotAllowed, match="Refusing to listen"):
        check_exposure(host, "local")
    check_exposure(host, "docker")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_on_loopback_every_box_will_do(host: str) -> None:
    check_exposure(host, "local")
