"""A verdict that is only a row of the table works from the judge to page and terminal."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest
from sqlalchemy import select

from grader import errors
from grader.challenge.catalogue import Catalogue
from grader.cli.main import main
from grader.judge import faults
from grader.judge.at_home import judge_at_home
from grader.records.models import SubmissionRow
from grader.sandbox.forked_box import ForkedBoxes
from grader.schemas import verdict as verdicts
from grader.schemas.report import CaseVerdict, Language, Report, Verdict
from grader.schemas.verdict import Fault, Tone, VerdictRow
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from tests.cli.stub import done, serving
from tests.web import builders
from tests.web.conftest import Visit

CATALOGUE = Path(__file__).parent.parent / "catalogue"
RAISES = "def solve(x, out, n):\n    raise ValueError(n)\n"

THERMAL = VerdictRow(
    word="thermal_limit",
    title="Thermal limit",
    letter="H",
    meaning="It made the device too hot.",
    advice="Let it rest between launches.",
    clause="overheats",
    tone=Tone.OURS,
    fault=Fault.SUBMISSION,
    of_submissions=True,
    of_cases=True,
)


@pytest.fixture
def thermal(monkeypatch: pytest.MonkeyPatch) -> VerdictRow:
    monkeypatch.setitem(verdicts._table, THERMAL.word, THERMAL)
    return THERMAL


@pytest.fixture
def report(thermal: VerdictRow, forked_boxes: ForkedBoxes, monkeypatch: pytest.MonkeyPatch) -> Report:
    finding = faults.CaseFault(CaseVerdict(thermal.word), "It reached 99 degrees.", "Slow down.")
    monkeypatch.setattr(faults, "of_exception", lambda *_: finding)
    challenge = Catalogue(CATALOGUE).load("twice")
    return judge_at_home(challenge, RAISES, Language.TRITON, forked_boxes, timing=False)


@pytest.mark.both_databases
def test_a_new_verdict_works_from_judge_to_page(
    report: Report,
    platform: Platform,
    ada: User,
    visit: Visit,
    call: Visit,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    new = Verdict("thermal_limit")
    assert report.verdict is new
    assert report.cases[0].verdict is CaseVerdict("thermal_limit")
    assert pickle.loads(pickle.dumps(report)).verdict is new
    assert Report.model_validate_json(report.model_dump_json()) == report

    report = report.model_copy(update={"challenge": builders.SLUG})
    seen = builders.judged(platform, ada, report)
    with platform.sessions() as session:
        row = session.scalars(select(SubmissionRow).where(SubmissionRow.verdict == new)).one()
        assert row.public_id == seen.id
        assert row.verdict is new

    answered = call(ada).get(f"/api/v1/submissions/{seen.id}").json
    assert answered is not None
    assert answered["verdict"] == "thermal_limit"
    sent = call(ada).get(f"/api/v1/submissions/{seen.id}/report").json
    assert sent is not None
    assert sent["cases"][0]["verdict"] == "thermal_limit"

    page = visit(ada).get(f"/submissions/{seen.id}").text
    assert re.search(r'class="card status ours".*\n\s*<p class="headline">Thermal limit</p>', page)
    assert "It made the device too hot." in page
    assert "it overheats. It reached 99 degrees." in page
    assert '<a class="square failed" href="#case-1"><span aria-hidden="true">H</span>' in page
    assert '<span class="badge ours">thermal limit</span>' in page
    assert "thermal limit" in visit(ada).get("/submissions").text

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with serving() as server:
        monkeypatch.setenv("GRADER_SERVER", server.url)
        done(server, report)
        code = main(["watch", "abc123"])
    told = capsys.readouterr().out
    assert code == errors.EXIT_NOT_ACCEPTED
    assert "THERMAL LIMIT  It made the device too hot." in told
    assert "it overheats" in told


def test_staff_can_search_for_a_new_verdict(
    platform: Platform, thermal: VerdictRow, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ValueError, match="is not a Verdict"):
        Verdict("not_run")
    assert main(["admin", "submissions", "--verdict", "thermal"]) == errors.EXIT_USAGE
    assert "not one of accepted, wrong_answer" in capsys.readouterr().err


def test_an_incomplete_verdict_row_is_refused() -> None:
    with pytest.raises(ValueError, match="verdict x: letter, clause is missing"):
        VerdictRow(
            word="x",
            title="X",
            letter="",
            meaning="X.",
            advice="X.",
            tone=Tone.BAD,
            fault=Fault.SUBMISSION,
            of_submissions=True,
            of_cases=True,
        )
    with pytest.raises(ValueError, match="the same word or letter"):
        verdicts._by_word((THERMAL, THERMAL))


def test_every_verdict_named_in_code_is_a_row() -> None:
    assert [each.value for each in Verdict] == [
        item.word for item in verdicts.VERDICTS.values() if item.of_submissions
    ]
    assert [entry.value for entry in CaseVerdict] == [
        verdict.word for verdict in verdicts.VERDICTS.values() if verdict.of_cases
    ]
    assert CaseVerdict.NOT_RUN is CaseVerdict("not_run")


@pytest.mark.parametrize("tone", Tone)
def test_every_tone_has_a_colour(tone: Tone) -> None:
    style = Path("web/static/parts.css").read_text()
    assert f".badge.{tone}, .status.{tone} {{" in style
    assert f"--{tone}-soft:" in Path("web/static/tokens.css").read_text()
