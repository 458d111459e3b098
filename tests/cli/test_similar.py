"""`assignment similar`: pairs, groups, and matching lines side by side."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from grader.languages import Language
from grader.schemas.similarity import (
    Decision,
    MatchedLines,
    SimilarityReport,
    SimilarPair,
    SimilarSide,
    SimilarSources,
)
from tests.cli.conftest import Cli
from tests.cli.stub import Stub

PATH = "/courses/gpu/assignments/week1/similarity"
PAIR = SimilarPair(
    number=3,
    challenge="scale",
    left=SimilarSide(submission="abc", user="ada", share=0.8),
    right=SimilarSide(submission="def", user="bob", share=0.9),
    bits=40.0,
    decision=Decision.OPEN,
)


def test_similar_shows_lines_and_groups_and_reopens_a_decision(cli: Cli, server: Stub) -> None:
    report = SimilarityReport(
        course="gpu",
        assignment="week1",
        made_at=datetime(2026, 1, 1, tzinfo=UTC),
        pairs=[PAIR],
        clusters=[["ada", "bob"]],
    )
    server.answer(f"PUT {PATH}/3", PAIR.model_dump(mode="json"))
    server.answer(f"GET {PATH}", report.model_dump(mode="json"))
    ran = cli("assignment", "similar", "gpu", "week1", "3", "--decide", "open")
    assert "group: ada, bob" in ran.out
    assert json.loads(server.asked[0].body) == {"decision": "open", "reason": ""}
    sources = SimilarSources(
        pair=PAIR,
        language=Language.TRITON,
        left="import triton\nx = a[i]\n",
        right="y = b[j]\n",
        matches=[MatchedLines(left=2, right=1, bits=9.0)],
    )
    server.answer(f"GET {PATH}/3", sources.model_dump(mode="json"))
    shown = cli("assignment", "similar", "gpu", "week1", "3").out.splitlines()
    assert [" ".join(line.split()) for line in shown] == ["line ada line bob", "2 x = a[i] 1 y = b[j]"]
