"""`progress`: tables and JSON."""

from __future__ import annotations

import json

from grader.schemas.progress import Best, ChallengeProgress, Mark, Progress, TrackProgress
from tests.cli.conftest import Cli
from tests.cli.stub import Stub

BEST = Best(challenge="one", device="h200", speedup=1.5, representative=True)


def found(next_slug: str | None = "two") -> dict[str, object]:
    lines = [
        ChallengeProgress(
            slug="one",
            title="The first",
            difficulty="easy",
            mark=Mark.SOLVED,
            prerequisites=[],
            missing=[],
            best=BEST,
        ),
        ChallengeProgress(
            slug="two",
            title="The second",
            difficulty="hard",
            mark=Mark.ATTEMPTED,
            prerequisites=["one", "zero"],
            missing=["zero"],
        ),
    ]
    track = TrackProgress(
        title="memory", solved=1, attempted=2, total=2, best=BEST, next=next_slug, challenges=lines
    )
    whole = Progress(user="ada", solved=1, attempted=2, total=2, next=next_slug, tracks=[track])
    return whole.model_dump(mode="json")


def test_progress_lists_tracks_and_the_next_challenge(cli: Cli, server: Stub) -> None:
    server.answer("GET /progress", found())
    ran = cli("progress")
    assert ran.code == 0
    for words in ("memory", "#####-----", "1 of 2", "1.50x on h200"):
        assert words in ran.out, words
    assert "The second" not in ran.out
    assert "1 of 2 solved, 2 attempted." in ran.err
    assert "Next: grader show two" in ran.err


def test_progress_all_lists_every_challenge(cli: Cli, server: Stub) -> None:
    server.answer("GET /progress", found())
    ran = cli("progress", "--all")
    for words in ("The first", "solved", "The second", "tried", "zero"):
        assert words in ran.out, words


def test_everything_solved_suggests_nothing(cli: Cli, server: Stub) -> None:
    server.answer("GET /progress", found(None))
    assert "Next" not in cli("progress").err


def test_progress_prints_json_and_other_users(cli: Cli, server: Stub) -> None:
    server.answer("GET /progress", found())
    ran = cli("progress", "--json", "--user", "ada")
    assert json.loads(ran.out) == found()
    assert server.asked[0].path == "/api/v1/progress?user=ada"


def test_times_without_a_gpu_are_marked(cli: Cli, server: Stub) -> None:
    answer = found()
    answer["tracks"][0]["challenges"][0]["best"]["representative"] = False  # type: ignore[index]
    server.answer("GET /progress", answer)
    assert "Speedups on h200 are not representative" in cli("progress").err
