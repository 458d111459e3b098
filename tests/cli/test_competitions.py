"""`competition`: requests, and the display of a board."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from grader.schemas.competition import (
    BoardKind,
    BoardRow,
    ChallengeScore,
    CompetitionBoard,
    FinalEntry,
    FinalState,
    FinalTime,
    FinalView,
    MemberView,
    Mode,
    Phase,
    Scoring,
    TeamList,
    TeamView,
)
from grader.schemas.regrade import (
    RegradedBoard,
    RegradedRank,
    RegradeScope,
    RegradeState,
    RegradeSummary,
    RegradeView,
)
from grader.schemas.submission import State
from tests.cli.conftest import Cli
from tests.cli.stub import Stub

AT = datetime(2026, 1, 1, tzinfo=UTC)


def _board() -> CompetitionBoard:
    def row(rank: int | None, team: str, score: float | None, pending: int = 0, failed: str = "") -> BoardRow:
        solved = score is not None
        score_ = ChallengeScore(
            challenge="scale", solved=solved, time_us=score, tries=2, pending=pending, failed=failed
        )
        return BoardRow(
            rank=rank, team=team, members=[], solved=1, score=score, challenges=[score_], sort=(0.0, 0.0)
        )

    return CompetitionBoard(
        competition="cup",
        title="The cup",
        kind=BoardKind.FROZEN,
        phase=Phase.FROZEN,
        ends_at=AT,
        device="h200",
        devices=["h200"],
        scoring=Scoring.TIME,
        resolution=0.005,
        challenges=["scale"],
        rows=[row(1, "Warps", 12.5, 3), row(None, "Late", None, failed="no time in repeats 1, 2")],
    )


def test_a_frozen_board_is_marked(cli: Cli, server: Stub) -> None:
    server.answer("GET /competitions/cup/board", _board().model_dump(mode="json"))
    ran = cli("competition", "board", "cup", "--mode", "official")
    assert ran.code == 0
    assert "Warps" in ran.out
    assert "12.5" in ran.out
    assert "no time in repeats 1, 2" in ran.out, "one challenge has no column of its own"
    assert "froze before the end" in ran.err


def test_a_final_names_repeats_without_a_time(cli: Cli, server: Stub) -> None:
    runs = [
        FinalTime(repeat=repeat, place=repeat, submission=f"run{repeat}", state=State.DONE, time_us=time_us)
        for repeat, time_us in ((1, 80.0), (2, None), (3, 90.0))
    ]
    entry = FinalEntry(team="Warps", challenge="scale", source="abc", time_us=85.0, untimed=[2], runs=runs)
    view = FinalView(
        competition="cup",
        state=FinalState.RUNNING,
        done=True,
        repeats=3,
        finalists=["Warps"],
        entries=[entry],
    )
    server.answer("GET /competitions/cup/final", view.model_dump(mode="json"))
    shown = " ".join(cli("competition", "final", "show", "cup").out.split())
    assert "Warps, scale: the median of 2 of 3 repeats; no time was measured in 2." in shown


def test_teams_shows_former_members_and_disqualifications(cli: Cli, server: Stub) -> None:
    members = [MemberView(name="ada"), MemberView(name="bob", left_at=AT)]
    team = TeamView(
        name="Warps", mode=Mode.OFFICIAL, members=members, starts_at=AT, disqualified="two accounts"
    )
    server.answer("GET /competitions/cup/teams", TeamList(teams=[team]).model_dump(mode="json"))
    assert "Warps  ada, bob (left)  two accounts" in cli("competition", "teams", "cup").out


def test_the_template_is_a_valid_definition(cli: Cli, server: Stub, tmp_path: Path) -> None:
    template = cli("competition", "create", "--template").out
    file = tmp_path / "cup.toml"
    file.write_text(template)
    cli("competition", "create", str(file))
    sent = json.loads(server.asked[-1].body)
    assert (sent["slug"], sent["challenges"][0]["hidden_workloads"]) == (
        "spring-cup",
        [{"sizes": {"n": 123456789}}],
    )
    file.write_text(template.replace('scoring = "time"', 'scoring = "luck"'))
    ran = cli("competition", "create", str(file))
    assert ran.code == 2
    assert "scoring" in ran.err


def test_a_regrade_shows_changed_ranks(cli: Cli, server: Stub) -> None:
    found = RegradeView(
        number=3,
        scope=RegradeScope.CHALLENGE,
        what="scale, version 1",
        reason="A case was wrong.",
        state=RegradeState.OPEN,
        ordered_at=AT,
        versions={"scale": 1},
        summary=RegradeSummary(up=1),
        boards=[
            RegradedBoard(
                competition="cup",
                title="The cup",
                device="cpu",
                changed=1,
                ranks=[
                    RegradedRank(team="Warps", before=1, after=1),
                    RegradedRank(team="Lanes", before=2, after=None),
                ],
            )
        ],
    )
    server.answer("GET /regrades/3", found.model_dump(mode="json"))
    shown = cli("regrade", "show", "3").out
    assert "The cup on cpu: 1 of 2 ranks change." in shown
    assert "Lanes: 2 -> -" in shown
    assert "Warps" not in shown
    assert "Warps: 1 -> 1" in cli("regrade", "show", "3", "--unchanged").out


def test_submit_can_name_a_competition_or_none(cli: Cli, server: Stub, tmp_path: Path) -> None:
    file = tmp_path / "scale.py"
    file.write_text("x = 1\n")
    for given, sent in (("cup", "cup"), ("none", "")):
        cli("submit", str(file), "-c", "scale", "--competition", given)
        assert json.loads(server.asked[-1].body)["competition"] == sent
