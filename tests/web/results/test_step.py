"""The page that steps through a failing block, and its files."""

from __future__ import annotations

import base64
import gzip
from typing import Any

import pytest
from sqlalchemy import select, update

from grader.languages import Language
from grader.records.engine import writing
from grader.records.models import SubmissionRow
from grader.schemas.own_case import OwnCase, StepChoice
from grader.schemas.report import CaseReport, CaseVerdict
from grader.schemas.step import StepBundle, StepLane, StepLaunch
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions import submit
from grader.web import assets
from tests import stepping
from tests.web import builders
from tests.web.conftest import Visit, csrf

EVIL = "<img src=x onerror=alert(1)>"
DATA = base64.b64encode(gzip.compress(b"what the block used")).decode()
LANES = [
    StepLane(thread=[3, 1, 0], name=EVIL, byte=-4),
    StepLane(thread=[4, 0, 0], name="no memory", byte=-1),
]


def handed_in(platform: Platform, user: User, step: StepBundle) -> str:
    report = stepping.report(builders.wrong(), step)
    return builders.judged(platform, user, report, source=stepping.SOURCE).id


@pytest.fixture
def _built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "built", lambda name: f"built/{name}")


@pytest.mark.usefixtures("_built")
def test_a_recorded_block_is_offered_to_its_author_alone(
    visit: Visit, platform: Platform, ada: User, bob: User
) -> None:
    at = f"/submissions/{handed_in(platform, ada, StepBundle(data=DATA, lanes=LANES))}"
    assert f'href="{at}/step"' in visit(ada).get(at).text
    page = visit(ada).get(f"{at}/step").text
    assert "out[i] = tile[63 - i];" in page
    assert "data-worker" in page
    # Without JavaScript: the places that the faulty lanes read.
    assert '<td class="figures">(3, 1)</td>' in page
    assert EVIL not in page
    answer = visit(ada).get(f"{at}/step/bundle")
    assert gzip.decompress(answer.data) == b"what the block used"
    for path in (f"{at}/step", f"{at}/step/bundle"):
        assert visit(bob).get(path).status_code in (403, 404)


@pytest.mark.usefixtures("_built")
@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        (StepBundle(why="It waits for other blocks."), "It waits for other blocks."),
        (StepBundle(version=0, data=DATA), "recorded by another version of the platform"),
    ],
)
def test_what_cannot_be_stepped_says_why(
    visit: Visit, platform: Platform, ada: User, step: StepBundle, sentence: str
) -> None:
    page = visit(ada).get(f"/submissions/{handed_in(platform, ada, step)}/step").text
    assert sentence in page
    assert "data-worker" not in page


def test_an_installation_without_the_engine_for_pages_says_so(
    visit: Visit, platform: Platform, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assets, "built", lambda name: None)
    page = visit(ada).get(f"/submissions/{handed_in(platform, ada, StepBundle(data=DATA))}/step").text
    assert "Stepping is not available in this installation" in page


def test_no_hidden_case_has_a_block(visit: Visit, platform: Platform, ada: User) -> None:
    report = stepping.report(builders.wrong(), StepBundle(data=DATA))
    hidden = report.cases[0].model_copy(update={"hidden": True})
    view = builders.judged(platform, ada, report.model_copy(update={"cases": [hidden]}))
    assert visit(ada).get(f"/submissions/{view.id}/step").status_code == 404


def accepted(platform: Platform, user: User, **step: Any) -> str:
    """A CUDA submission that an emulated GPU accepted, with one public case."""
    bundle = StepBundle(**step) if step else None
    case = CaseReport(
        name="square", category="basic", verdict=CaseVerdict.ACCEPTED, seed=1, sizes={"n": 64}, step=bundle
    )
    hidden = case.model_copy(update={"name": "secret", "hidden": True, "step": None})
    view = builders.judged(platform, user, builders.accepted(cases=[case, hidden]), source=stepping.SOURCE)
    with writing(platform.sessions) as session:
        row = session.scalars(select(SubmissionRow).where(SubmissionRow.public_id == view.id)).one()
        row.device, row.language, row.filename = "emulated", Language.CUDA, "mirror.cu"
    return f"/submissions/{view.id}"


@pytest.mark.usefixtures("_built")
def test_a_block_of_an_accepted_kernel_is_chosen(
    visit: Visit, platform: Platform, ada: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = accepted(platform, ada)
    monkeypatch.setattr(submit, "served_devices", lambda _: ["emulated"])
    asked: list[OwnCase | None] = []
    monkeypatch.setattr(submit, "own_case", lambda challenge, case, kind: asked.append(case))
    browser = visit(ada)
    assert f'href="{at}/step#choose"' in browser.get(at).text
    page = browser.get(f"{at}/step").text
    assert "Choose a block" in page
    token = csrf(browser, f"{at}/step")
    assert "square" in page
    assert "secret" not in page
    assert visit(bob).get(f"{at}/step").status_code in (403, 404)
    for sent, sentence in (
        ({"case": "square", "launch": "x"}, "The launch is &#39;x&#39;, and must be a whole number."),
        ({"case": "square", "launch": "0"}, "Launches are numbered from 1."),
        ({"case": "square", "x": "-1"}, "The block&#39;s x is &#39;-1&#39;"),
        ({"case": "secret"}, "The submission ran no public case &#39;secret&#39;."),
    ):
        answer = browser.post(f"{at}/step", data={**sent, "csrf_token": token})
        assert answer.status_code == 400
        assert sentence in answer.text
        assert "Record it" in answer.text
    answer = browser.post(
        f"{at}/step", data={"case": "square", "launch": "2", "x": "3", "y": "", "z": "1", "csrf_token": token}
    )
    assert answer.status_code == 303
    assert asked[0] is not None
    assert asked[0].step == StepChoice(launch=1, block=(3, 0, 1))
    assert asked[0].seed == 1
    waiting = browser.get(answer.location)
    assert "This page shows it in a moment." in waiting.text
    assert waiting.headers["Refresh"] == "1"


@pytest.mark.usefixtures("_built")
def test_a_challenge_that_changed_is_said_in_a_sentence(
    visit: Visit, platform: Platform, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = accepted(platform, ada)
    monkeypatch.setattr(submit, "served_devices", lambda _: ["emulated"])
    with writing(platform.sessions) as session:
        session.execute(update(SubmissionRow).values(version=7))
    browser = visit(ada)
    form = {"case": "square", "csrf_token": csrf(browser, f"{at}/step")}
    answer = browser.post(f"{at}/step", data=form)
    assert answer.status_code == 409
    assert f"vector_add has version {builders.VERSION} now" in answer.text
    assert "Record it" in answer.text


@pytest.mark.usefixtures("_built")
def test_both_programs_of_a_block_are_served(visit: Visit, platform: Platform, ada: User) -> None:
    named = base64.b64encode(gzip.compress(b"with names")).decode()
    launch = StepLaunch(kernel="mirror", grid=[2, 1, 1], threads=[64, 1, 1])
    at = accepted(platform, ada, data=DATA, named=named, launches=[launch], block=[1, 0, 0])
    browser = visit(ada)
    page = browser.get(f"{at}/step").text
    assert f'data-bundle="{at}/step/bundle?program=named"' in page
    assert "1: mirror, 2 blocks" in page
    assert "To the end" in page
    judged = browser.get(f"{at}/step?program=judged").text
    assert f'data-bundle="{at}/step/bundle"' in judged
    contents = [browser.get(f"{at}/step/bundle{query}").data for query in ("", "?program=named")]
    assert [gzip.decompress(each) for each in contents] == [b"what the block used", b"with names"]


def test_only_the_workers_script_may_compile(visit: Visit, ada: User) -> None:
    page, worker = (
        visit(ada).get(f"/static/{name}", buffered=True) for name in ("step.js", "step_worker.js")
    )
    assert "wasm" not in page.headers["Content-Security-Policy"]
    assert "script-src 'self' 'wasm-unsafe-eval'" in worker.headers["Content-Security-Policy"]
    assert "wasm" not in visit(ada).get("/submissions").headers["Content-Security-Policy"]
