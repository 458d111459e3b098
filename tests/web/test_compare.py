"""The page with two kernels side by side, and what a result's page says after solving."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from grader.schemas.preferences import PreferencesBody, ProfileAudience
from grader.schemas.submission import SubmissionView
from grader.service.accounts import preferences
from grader.service.accounts.accounts import User
from grader.service.platform import Platform, open_platform
from tests.service.world import make_catalogue
from tests.web import builders
from tests.web.conftest import Visit

API = "/api/v1/submissions"
SOLUTION = "# staff's <b>own</b> idea\ndef solve(a, i, out, alpha, n): ...\n"


@pytest.fixture
def platform(tmp_path: Path, database: str) -> Any:
    catalogue = make_catalogue(tmp_path / "catalogue")
    staff = catalogue / "reference" / "scale" / "staff"
    staff.mkdir()
    (staff / "solution.py").write_text(SOLUTION)
    (staff / "commentary.md").write_text("**Tiles** <script>alert(1)</script> [x](javascript:alert(1))\n")
    opened = open_platform(builders.make_settings(tmp_path, challenges=catalogue))
    yield opened
    opened.close()


def solved(platform: Platform, user: User, source: str, **values: Any) -> SubmissionView:
    made = builders.profiled(challenge="scale", **values)
    return builders.judged(platform, user, made, challenge="scale", source=source, filename="scale.py")


def share(platform: Platform, user: User) -> None:
    preferences.change(platform, user, PreferencesBody(kernels=ProfileAudience.MEMBERS))


def test_two_kernels_with_their_counters(platform: Platform, ada: User, bob: User, visit: Visit) -> None:
    mine = solved(platform, ada, "x = 1\n")
    slow = builders.profiled().workloads[0]
    profile = slow.profile
    assert profile is not None
    faster = profile.kernels[0].model_copy(update={"lines": [], "accesses": [], "time_us": 5.0})
    fast = profile.model_copy(update={"kernels": [faster], "time_us": 6.0})
    time = {"profile": fast, "time_us": 6.0, "ci_us": (6.0, 6.0)}
    theirs = solved(
        platform, bob, "y = '<i>bob</i>'\n", workloads=[slow.model_copy(update=time)], compiler_log="private"
    )
    share(platform, bob)
    page = visit(ada).get(f"/submissions/{mine.id}/compare?against={theirs.id}").text
    assert re.search(r'class="explained">Your kernel takes [\d.]+ times as long as the kernel of bob', page)
    assert 'id="L-1"' in page
    assert 'id="R-1"' in page
    assert "&lt;i&gt;bob&lt;/i&gt;" in page
    assert "<i>bob" not in page
    assert page.count('<span class="chip">largest</span>') == 1
    assert "Sectors a request" in page
    assert not any(word in page for word in ("private", "secret", "hello"))


def test_the_solution_with_its_commentary(
    platform: Platform, ada: User, bob: User, teacher: User, visit: Visit
) -> None:
    mine = solved(platform, ada, "x = 1\n")
    shown = visit(ada).get(f"/submissions/{mine.id}").text
    assert "Staff&#39;s solution, and other kernels" in shown
    page = visit(ada).get(f"/submissions/{mine.id}/compare").text
    assert "<strong>Tiles</strong>" in page
    assert "<script>alert" not in page
    assert 'href="javascript' not in page
    assert "staff&#39;s &lt;b&gt;own&lt;/b&gt; idea" in page
    assert "was not judged on cpu" in page
    assert "grader submit reference/" not in page, "that is for staff"
    assert "grader submit reference/" in visit(teacher).get(f"/submissions/{mine.id}/compare").text
    assert visit(bob).get(f"/submissions/{mine.id}/compare?against=staff-triton").status_code == 404
    unsolved = builders.judged(platform, bob, builders.wrong(challenge="scale"), challenge="scale")
    for query in ("", "?against=staff-triton", f"?against={mine.id}"):
        answer = visit(bob).get(f"/submissions/{unsolved.id}/compare{query}")
        assert answer.status_code == 409
        assert "own</b> idea" not in answer.text
    assert "After solving" not in visit(bob).get(f"/submissions/{unsolved.id}").text


def test_no_address_gives_what_is_not_in_the_list(
    platform: Platform, ada: User, bob: User, visit: Visit
) -> None:
    mine, theirs = solved(platform, ada, "x = 1\n"), solved(platform, bob, "y = 'secret idea'\n")
    for key in (
        theirs.id,
        theirs.id.upper(),
        "staff-cuda",
        "staff-",
        "staff-../reference",
        "nothing",
        "0" * 500,
    ):
        answer = visit(ada).get(f"/submissions/{mine.id}/compare", query_string={"against": key})
        assert answer.status_code == 404, key
        assert "secret idea" not in answer.text


def test_after_solving_on_the_page_and_in_the_api(
    platform: Platform, ada: User, bob: User, visit: Visit, call: Visit
) -> None:
    mine = solved(platform, ada, "x = 1\n")
    solved(platform, bob, "y = 1\n")
    page = visit(ada).get(f"/submissions/{mine.id}").text
    card = page[page.index('id="after"') :].partition("</section>")[0]
    assert "<dd>1<small> of 2</small></dd>" in card
    assert "Level with the other entry." in card
    assert '<a href="/challenges/only_cuda">CUDA only</a>' in card
    found = call(ada).get(f"{API}/{mine.id}/standing").json
    assert found is not None
    assert (found["rank"], found["level"], found["entry"], found["next"]) == (1, 1, mine.id, "only_cuda")
    assert call(bob).get(f"{API}/{mine.id}/standing").status_code == 404
