"""The page that steps through a failing block, and its files."""

from __future__ import annotations

import base64
import gzip

import pytest

from grader.schemas.step import StepBundle, StepLane
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.web import assets
from tests import stepping
from tests.web import builders
from tests.web.conftest import Visit

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
    # Without JavaScript: where the lanes of the fault read.
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


def test_only_the_workers_script_may_compile(visit: Visit, ada: User) -> None:
    page, worker = (
        visit(ada).get(f"/static/{name}", buffered=True) for name in ("step.js", "step_worker.js")
    )
    assert "wasm" not in page.headers["Content-Security-Policy"]
    assert "script-src 'self' 'wasm-unsafe-eval'" in worker.headers["Content-Security-Policy"]
    assert "wasm" not in visit(ada).get("/submissions").headers["Content-Security-Policy"]
