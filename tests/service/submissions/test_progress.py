"""The next suggestion, and whose figures count."""

from __future__ import annotations

import pytest

from grader.errors import NotAllowed, NotFound
from grader.languages import Language
from grader.records.engine import writing
from grader.records.models import SubmissionRow
from grader.schemas.progress import Mark
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions.progress import progress

pytestmark = pytest.mark.both_databases


def need(platform: Platform, slug: str, *others: str) -> None:
    path = platform.catalogue.root / "challenges" / slug / "challenge.toml"
    path.write_text(f"prerequisites = {list(others)!r}\n{path.read_text()}")


def judged(
    platform: Platform, user: User, slug: str, speedup: float | None = None, device: str = "cpu"
) -> None:
    with writing(platform.sessions) as session:
        session.add(
            SubmissionRow(
                user_id=user.id,
                challenge=slug,
                version=1,
                language=Language.TRITON,
                device=device,
                source="x",
                filename="x.py",
                state=State.DONE,
                verdict=Verdict.ACCEPTED if speedup else Verdict.WRONG_ANSWER,
                speedup=speedup,
            )
        )


def test_the_next_challenge_has_no_unsolved_prerequisite(platform: Platform, student: User) -> None:
    need(platform, "scale", "only_cuda")
    assert [track.title for track in progress(platform, student).tracks] == ["first", "second"]
    assert progress(platform, student).next == "only_cuda"
    judged(platform, student, "only_cuda", 2.0)
    found = progress(platform, student)
    assert found.next == "scale"
    assert found.tracks[0].challenges[0].missing == []
    judged(platform, student, "scale", 2.0)
    assert progress(platform, student).next is None


def test_a_track_always_suggests_a_remaining_challenge(platform: Platform, student: User) -> None:
    need(platform, "scale", "nowhere")
    need(platform, "only_cuda", "scale")
    found = progress(platform, student)
    assert (found.next, found.tracks[0].next, found.tracks[1].next) == ("scale", "scale", "only_cuda")


def test_a_speedup_on_a_gpu_takes_precedence(platform: Platform, student: User) -> None:
    judged(platform, student, "scale", 90.0)
    judged(platform, student, "scale", 1.5, "h200")
    judged(platform, student, "scale", 1.2, "t4")
    best = progress(platform, student).tracks[0].best
    assert best is not None
    assert (best.speedup, best.device, best.representative) == (1.5, "h200", True)


def test_only_accepted_counts_as_solved(platform: Platform, student: User) -> None:
    judged(platform, student, "scale")
    (line,) = progress(platform, student).tracks[0].challenges
    assert (line.mark, line.best) == (Mark.ATTEMPTED, None)


def test_a_removed_challenge_counts_only_as_a_prerequisite(platform: Platform, student: User) -> None:
    need(platform, "scale", "gone")
    judged(platform, student, "gone", 2.0)
    found = progress(platform, student)
    assert (found.solved, found.attempted) == (0, 0)
    assert found.tracks[0].challenges[0].missing == []


def test_only_staff_see_others_progress(platform: Platform, student: User, other: User, staff: User) -> None:
    judged(platform, student, "scale", 2.0)
    assert progress(platform, other).solved == 0
    assert progress(platform, staff, "Ada").solved == 1
    assert progress(platform, student, "Ada").user == "ada"
    with pytest.raises(NotAllowed):
        progress(platform, other, "ada")
    with pytest.raises(NotFound):
        progress(platform, staff, "nobody")
