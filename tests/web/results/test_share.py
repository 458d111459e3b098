"""Shared results: who may share, what the link shows and never shows, and how it ends."""

from __future__ import annotations

import re

from grader.schemas.report import CaseVerdict, Report
from grader.schemas.submission import SubmissionView
from grader.service.accounts.accounts import User
from grader.service.boards import share
from grader.service.platform import Platform
from tests.web import builders
from tests.web.conftest import Visit, csrf
from tests.web.security.inert import what_runs
from tests.web.security.test_stored_script import EVIL, evil_report

SECRETS = ("secret", "n was 31", "seed 99")


def press(visit: Visit, user: User | None, submission: str, button: str = "share") -> int:
    client = visit(user)
    data = {"csrf_token": csrf(client, "/challenges/vector_add")}
    return client.post(f"/submissions/{submission}/{button}", data=data).status_code


def link(visit: Visit, user: User, submission: str) -> str:
    found = re.search(
        r"http://localhost(/shared/[\w-]{43})<", visit(user).get(f"/submissions/{submission}").text
    )
    assert found
    return found[1]


def test_the_owner_shares_and_unshares_a_result(visit: Visit, seen: SubmissionView, ada: User) -> None:
    assert 'id="begin-share"' in visit(ada).get(f"/submissions/{seen.id}").text
    assert press(visit, ada, seen.id) == 303
    path = link(visit, ada, seen.id)
    assert press(visit, ada, seen.id) == 303
    assert link(visit, ada, seen.id) == path  # pressed twice, it is the same
    answer = visit(None).get(path)
    assert answer.status_code == 200
    for part in ("Every case passed.", "812 µs", "1.31×", "2^16"):
        assert part in answer.text, part
    assert press(visit, ada, seen.id, "unshare") == 303
    assert visit(None).get(path).status_code == 404
    assert press(visit, ada, seen.id) == 303
    assert link(visit, ada, seen.id) != path  # an old link stays dead


def test_a_shared_result_holds_no_name_source_or_link(visit: Visit, platform: Platform, ada: User) -> None:
    report = builders.wrong(compiler_log="int quoted_source;")
    raised = report.cases[1].model_copy(
        update={
            "name": "raised",
            "verdict": CaseVerdict.RUNTIME_ERROR,
            "mismatch": None,
            "detail": "quoted_source",
        }
    )
    report = report.model_copy(update={"cases": [*report.cases, raised]})
    view = builders.judged(platform, ada, report, filename="ada_lovelace.py")
    page = visit(None).get(f"/shared/{share.share(platform, ada, view.id)}").text
    for part in ("ada", view.id, "quoted_source", "not bold", "block 3", *SECRETS):
        assert part not in page, part
    assert "grader test solution.py -c vector_add" in page
    assert "33 of 1,024 elements" in page
    assert "It ended with runtime error." in page


def test_a_shared_compile_error_quotes_no_source(platform: Platform) -> None:
    told = share.without_source(builders.not_compiled("solution.cu(3): error: my_line"))
    assert "my_line" not in told.model_dump_json()
    assert "Line 3" not in told.model_dump_json()
    assert Report.model_validate(told.model_dump()) == told


def test_a_shared_result_is_not_indexed_and_sends_no_referrer(
    visit: Visit, platform: Platform, seen: SubmissionView, ada: User
) -> None:
    answer = visit(None).get(f"/shared/{share.share(platform, ada, seen.id)}")
    assert "noindex" in answer.headers["X-Robots-Tag"]
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert 'name="robots" content="noindex' in answer.text


def test_only_the_owner_can_share(
    visit: Visit, seen: SubmissionView, ada: User, bob: User, teacher: User
) -> None:
    assert [press(visit, user, seen.id) for user in (None, bob, teacher)] == [302, 404, 403]
    press(visit, ada, seen.id)
    path = link(visit, ada, seen.id)
    assert [press(visit, user, seen.id, "unshare") for user in (None, bob, teacher)] == [302, 404, 403]
    assert path.removeprefix("/shared/") not in visit(teacher).get(f"/submissions/{seen.id}").text
    assert visit(bob).get(path).status_code == 200
    assert visit(bob).get(f"/submissions/{seen.id}").status_code == 404


def test_sharing_needs_the_forms_token(
    visit: Visit, platform: Platform, seen: SubmissionView, ada: User
) -> None:
    assert visit(ada).post(f"/submissions/{seen.id}/share").status_code == 403
    assert share.key_of(platform, ada, seen.id) is None


def test_an_unjudged_submission_cannot_be_shared(visit: Visit, platform: Platform, ada: User) -> None:
    view = builders.hand_in(platform, ada)
    assert press(visit, ada, view.id) == 409
    assert 'id="share"' not in visit(ada).get(f"/submissions/{view.id}").text


def test_share_keys_cannot_be_guessed(
    visit: Visit, platform: Platform, seen: SubmissionView, ada: User
) -> None:
    key = share.share(platform, ada, seen.id)
    client = visit(None)
    for wrong in ("x", key[:-1], key + "x", key.swapcase(), "%00" * 43, "None", "ä" * 43):
        assert client.get(f"/shared/{wrong}").status_code == 404, wrong


def test_script_in_a_shared_result_is_escaped(visit: Visit, platform: Platform, ada: User) -> None:
    view = builders.judged(platform, ada, evil_report(challenge="vector_add"))
    page = visit(None).get(f"/shared/{share.share(platform, ada, view.id)}").text
    assert what_runs(page) == []
    assert EVIL not in page
