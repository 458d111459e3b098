from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.challenge.views import installed_versions
from grader.errors import ChallengeInvalid, NotAllowed, UnknownChallenge
from grader.languages import Language, usual
from grader.queue.worker import run_worker
from grader.records import workers
from grader.records.engine import writing
from grader.records.models import ReportRow, utcnow
from grader.schemas.report import Verdict
from grader.service.accounts.accounts import User
from grader.service.boards.leaderboard import leaderboard
from grader.service.boards.track_board import leaderboards, track_board
from grader.service.challenges.catalogue import get_challenge, list_challenges
from grader.service.operation.exposure import check_exposure
from grader.service.operation.health import health
from grader.service.platform import Platform, open_platform
from grader.service.submissions.submissions import get_submission
from grader.service.submissions.submit import submit
from tests.queue.fakes import FakeJudge, NoBoxes
from tests.records.rows import add_submission, wrong
from tests.service.world import body, make_settings


def test_challenges_are_ordered_by_track_and_a_broken_one_hides_no_other(platform: Platform) -> None:
    broken = platform.catalogue.root / "challenges" / "broken"
    broken.mkdir()
    (broken / "challenge.toml").write_text("title = 3")
    assert [challenge.slug for challenge in list_challenges(platform).challenges] == ["scale", "only_cuda"]


def _remove(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).unlink()


def _say(name: str, text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(text)


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "no TOML": (_say("challenge.toml", 'title = "Scale"\ntrack = "first"\n[[['), "not TOML"),
    "a wrong key": (_say("challenge.toml", 'title = "Scale"\ntrack = "first"\nversion = "one"\n'), "version"),
    "no manifest": (_remove("challenge.toml"), "challenge.toml: the file is missing"),
    "a manifest that is a folder": (
        lambda folder: (_remove("challenge.toml")(folder), (folder / "challenge.toml").mkdir()),
        "Is a",
    ),
    "no spec": (_remove("spec.md"), "spec.md: the file is missing"),
    "no cases": (_remove("cases.py"), "cases.py: the file is missing"),
    "cases that fail": (_say("cases.py", "1 / 0"), "cases.py: ZeroDivisionError"),
    "cases that exit": (_say("cases.py", "raise SystemExit(3)"), "cases.py: SystemExit: 3"),
    "no reference": (
        lambda folder: (folder.parents[1] / "reference/scale/reference.py").unlink(),
        "reference.py",
    ),
}


@pytest.mark.parametrize(("spoil", "told"), BROKEN.values(), ids=BROKEN)
def test_a_broken_folder_is_an_alert_with_file_and_fix(
    platform: Platform, spoil: Callable[[Path], object], told: str
) -> None:
    assert health(platform).alerts == []
    spoil(platform.catalogue.root / "challenges" / "scale")
    (alert,) = health(platform).alerts
    assert alert.text.startswith("scale is broken: ")
    assert told in alert.text
    assert "grader challenge check scale" in alert.hint
    assert "only_cuda" in [challenge.slug for challenge in list_challenges(platform).challenges]
    assert get_challenge(platform, "only_cuda").title == "CUDA only"


@pytest.mark.parametrize("spoil", [case[0] for case in BROKEN.values()], ids=BROKEN)
def test_boards_stay_while_a_folder_is_broken(
    platform: Platform, student: User, spoil: Callable[[Path], object]
) -> None:
    sent = submit(platform, student, body()).id
    run_worker(platform.settings, "w", burst=True, judge=FakeJudge(), boxes=NoBoxes())
    before = leaderboards(platform), track_board(platform, "first"), leaderboard(platform, "scale")
    spoil(platform.catalogue.root / "challenges" / "scale")
    board = leaderboard(platform, "scale")
    assert board == before[2]
    assert [entry.user for entry in board.entries] == ["ada"]
    after = leaderboards(platform)
    boards = {board.challenge: board for track in after.tracks for board in track.boards}
    assert boards["scale"].leader == before[0].tracks[0].boards[0].leader
    if (platform.catalogue.root / "challenges" / "scale" / "challenge.toml").is_file():
        assert (after, track_board(platform, "first")) == before[:2]
    assert get_submission(platform, student, sent).verdict is Verdict.ACCEPTED


def test_a_broken_file_of_tracks_stops_no_challenge(platform: Platform, student: User) -> None:
    (platform.catalogue.root / "challenges" / "tracks.toml").write_text("[[[")
    (alert,) = health(platform).alerts
    assert "tracks.toml: not TOML" in alert.text
    assert len(list_challenges(platform).challenges) == 2
    assert submit(platform, student, body()).id
    assert len(leaderboards(platform).tracks) == 2


def test_other_folders_cause_no_alert(platform: Platform) -> None:
    folder = platform.catalogue.root / "challenges"
    (folder / "gone" / "__pycache__").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".git" / "config").touch()
    assert health(platform).alerts == []
    with pytest.raises(UnknownChallenge):
        get_challenge(platform, "gone")


def test_a_missing_or_broken_prerequisite_is_one_alert(platform: Platform) -> None:
    manifest = platform.catalogue.root / "challenges" / "only_cuda" / "challenge.toml"
    text = manifest.read_text()
    manifest.write_text(f'prerequisites = ["scale"]\n{text}')
    (platform.catalogue.root / "challenges" / "scale" / "challenge.toml").write_text("title = 3")
    assert [alert.text.split()[0] for alert in health(platform).alerts] == ["scale"]
    manifest.write_text(f'prerequisites = ["nothing"]\n{text}')
    assert "there is no challenge ['nothing']" in health(platform).alerts[1].text


def test_an_empty_catalogue_names_the_command_to_start_with(tmp_path: Path) -> None:
    with pytest.raises(ChallengeInvalid) as caught:
        open_platform(make_settings(tmp_path, "", challenges=tmp_path / "new catalogue"))
    assert "grader challenge new NAME" in caught.value.hint
    (tmp_path / "new catalogue" / "challenges").mkdir(parents=True)
    platform = open_platform(make_settings(tmp_path, "", challenges=tmp_path / "new catalogue"))
    (alert,) = health(platform).alerts
    assert alert.hint == f"GRADER_CHALLENGES='{tmp_path}/new catalogue' grader challenge new NAME"
    platform.close()


def test_a_challenge_describes_its_cases_in_words(platform: Platform) -> None:
    shown = get_challenge(platform, "scale")
    seven, ones = shown.cases
    assert seven.inputs == {"a": "uniform from 0 to 7", "i": "whole numbers from 0 to 7", "alpha": "0.5"}
    assert ones.inputs["a"] == "1 everywhere"
    assert (seven.sizes, seven.note, shown.hidden_cases) == ({"n": 7}, "a prime", 0)


def test_showing_a_challenge_does_not_run_its_reference(platform: Platform) -> None:
    shown = get_challenge(platform, "scale")
    assert "must not run" in shown.reference
    assert shown.signatures[Language.TRITON] == "def solve(a, i, out, alpha, n)"
    assert set(shown.starters) == set(shown.languages) == set(usual())
    assert shown.served == [Language.TRITON]
    assert get_challenge(platform, "only_cuda").served == []


def test_a_platform_with_a_gpu_serves_both(tmp_path: Path, redis_url: str) -> None:
    platform = open_platform(make_settings(tmp_path, redis_url, devices="cpu,h200"))
    assert get_challenge(platform, "scale").served == [Language.CUDA, Language.TRITON]
    platform.close()


def test_a_challenge_names_the_last_judging_versions(platform: Platform, student: User) -> None:
    """Before any judgement, this machine's."""
    assert get_challenge(platform, "scale").judged_with == installed_versions()
    row = add_submission(platform.sessions, student.id, language=Language.TRITON)
    cuda = add_submission(platform.sessions, student.id, language=Language.CUDA)
    told = {"box_python": "3.12.1", "box_triton": "3.6.0", "system": "Linux"}
    with writing(platform.sessions) as session:
        for submission, environment in ((row, told), (cuda, {"box_python": "3.10"})):
            body = wrong().model_copy(update={"environment": environment}).model_dump_json()
            session.add(ReportRow(submission_id=submission, attempt=1, body=body))
    assert get_challenge(platform, "scale").judged_with == {"python": "3.12.1", "triton": "3.6.0"}


def test_an_unknown_challenge_is_refused(platform: Platform) -> None:
    with pytest.raises(UnknownChallenge):
        get_challenge(platform, "nope")


def test_health_names_the_failed_part(platform: Platform) -> None:
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


def test_health_works_without_redis_and_database(tmp_path: Path) -> None:
    platform = open_platform(make_settings(tmp_path, f"unix://{tmp_path}/none.sock"))
    assert not health(platform).parts["queue"].ok
    platform.close()
    away = make_settings(tmp_path, "", database_url=f"postgresql://nobody@/none?host={tmp_path}")
    platform = open_platform(away, migrate=False)
    assert not health(platform).parts["database"].ok
    platform.close()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.5", "example.org"])
def test_local_boxes_cannot_be_exposed(host: str) -> None:
    with pytest.raises(NotAllowed, match="Refusing to listen"):
        check_exposure(host, "local")
    check_exposure(host, "docker")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_any_box_may_serve_on_loopback(host: str) -> None:
    check_exposure(host, "local")
