"""Every page, for nobody, student and staff: who sees what, challenges and leaderboards."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flask import Flask

from grader import limits
from grader.schemas.submission import SubmissionView
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from tests.web import builders
from tests.web.conftest import BOARDS, PUBLIC, Visit, csrf


class TestVisibility:
    def test_challenges_are_public_and_boards_for_members(
        self, visit: Visit, seen: SubmissionView, ada: User, teacher: User
    ) -> None:
        for user in (None, ada, teacher):
            client = visit(user)
            for path in PUBLIC if user is None else (*PUBLIC, *BOARDS):
                assert client.get(path).status_code == 200, (user, path)

    def test_submissions_need_signing_in(self, visit: Visit, seen: SubmissionView) -> None:
        for path in ("/submissions", f"/submissions/{seen.id}", f"/submissions/{seen.id}/panel"):
            answer = visit(None).get(path)
            assert answer.status_code == 302
            assert answer.headers["Location"].startswith("/sign-in?next=")

    def test_students_see_only_own_submissions_and_staff_all(
        self, visit: Visit, seen: SubmissionView, ada: User, bob: User, teacher: User
    ) -> None:
        for path in (f"/submissions/{seen.id}", f"/submissions/{seen.id}/panel"):
            assert visit(ada).get(path).status_code == 200
            assert visit(teacher).get(path).status_code == 200
            hidden = visit(bob).get(path)
            assert hidden.status_code == 404
            assert "ada" not in hidden.text

    def test_lists_hold_own_submissions_and_everyones_for_staff(
        self, visit: Visit, seen: SubmissionView, ada: User, bob: User, teacher: User
    ) -> None:
        assert seen.id in visit(ada).get("/submissions").text
        assert seen.id not in visit(bob).get("/submissions?everyone=1").text
        assert seen.id not in visit(teacher).get("/submissions").text
        assert seen.id in visit(teacher).get("/submissions?everyone=1").text
        assert seen.id not in visit(ada).get("/submissions?challenge=matmul&page=nonsense").text

    def test_staff_filter_everyones_submissions(
        self, visit: Visit, seen: SubmissionView, teacher: User
    ) -> None:
        client, everyones = visit(teacher), "/submissions?everyone=1"
        assert seen.id in client.get(f"{everyones}&user=ada&verdict=accepted&since=2026-01-01&until=").text
        assert "No submission matches" in client.get(f"{everyones}&verdict=time_limit").text
        for wrong, said in (
            ("user=nobody", "nobody"),
            ("verdict=fine", "verdict"),
            ("since=soon", "is not a time"),
        ):
            answer = client.get(f"{everyones}&{wrong}")
            assert answer.status_code in (400, 404)
            assert said in answer.text

    @pytest.mark.parametrize(
        "path", ["/nothing", "/challenges/nothing", "/leaderboards/nothing", "/challenges/../etc"]
    )
    def test_an_unknown_address_gets_a_page(self, visit: Visit, path: str) -> None:
        answer = visit(None).get(path)
        assert answer.status_code == 404
        assert answer.mimetype == "text/html"
        assert "Back to the challenges" in answer.text

    def test_static_files_are_cacheable(self, visit: Visit) -> None:
        found = re.findall(r'(?:href|src)="(/static/[^"]+)"', visit(None).get("/challenges/transpose").text)
        assert len(found) >= 5
        for path in found:
            with visit(None).get(path) as answer:
                assert answer.status_code == 200
                assert answer.cache_control.max_age
            assert "?v=" in path


class TestChallenge:
    def test_a_challenge_page_is_complete(self, visit: Visit) -> None:
        page = visit(None).get("/challenges/transpose").text
        for part in ("Signature", "solve(", "block edge", "Reference in PyTorch", "Sign in to submit"):
            assert part in page
        before, drawn, after = page.partition('<figure class="drawing"')
        assert "Nothing is computed" in before
        assert drawn
        assert after.partition("</figure>")[0].count("<svg") == 4
        assert "Example</h2>" in after

    def test_an_unserved_language_is_disabled_with_the_reason(self, visit: Visit) -> None:
        page = visit(None).get("/challenges/vector_add").text
        assert re.search(r'value="cuda" disabled', page)
        assert re.search(r'value="triton" checked', page)
        assert "CUDA C++ cannot be chosen: no device of this server can run it." in page

    def form(self, token: str, **values: str) -> dict[str, str]:
        given = {"csrf_token": token, "language": "triton", "source-triton": builders.SOURCE, "nonce": "n"}
        return given | values

    def test_submit_leads_to_the_submission(self, visit: Visit, ada: User) -> None:
        client = visit(ada)
        data = self.form(csrf(client, "/"), **{"source-triton": builders.SOURCE.replace("\n", "\r\n")})
        answer = client.post("/challenges/vector_add", data=data)
        assert answer.status_code == 303
        page = client.get(answer.headers["Location"]).text
        assert "Next in the queue" in page
        source = client.get(f"/api/v1{answer.headers['Location']}/source").json
        assert source
        assert source["source"] == builders.SOURCE
        assert source["filename"] == "vector_add.py"

    def test_a_form_sent_twice_is_one_submission(self, visit: Visit, ada: User) -> None:
        client = visit(ada)
        data = self.form(csrf(client, "/"))
        first, second = (
            client.post("/challenges/vector_add", data=data).headers["Location"] for _ in range(2)
        )
        assert first == second
        edited = data | {"source-triton": builders.SOURCE + "# more\n"}
        assert client.post("/challenges/vector_add", data=edited).headers["Location"] != first

    def test_a_refused_source_comes_back_with_the_reason(self, visit: Visit, ada: User) -> None:
        client = visit(ada)
        keep = "// my own </textarea><script>alert(1)</script>"
        data = self.form(csrf(client, "/"), **{"source-triton": "  ", "source-cuda": keep})
        answer = client.post("/challenges/vector_add", data=data)
        assert answer.status_code == 400
        assert "The source is empty." in answer.text
        assert "// my own &lt;/textarea&gt;&lt;script&gt;" in answer.text

    @pytest.mark.parametrize(("language", "status"), [("cuda", 409), ("perl", 400), ("", 400)])
    def test_a_forged_language_is_refused(self, visit: Visit, ada: User, language: str, status: int) -> None:
        client = visit(ada)
        data = self.form(csrf(client, "/"), language=language, **{"source-cuda": "int x;"})
        assert client.post("/challenges/vector_add", data=data).status_code == status

    def test_submitting_needs_signing_in(self, visit: Visit) -> None:
        client = visit(None)
        data = self.form(csrf(client), back="/challenges/vector_add")
        answer = client.post("/challenges/vector_add", data=data)
        assert answer.headers["Location"] == "/sign-in?next=/challenges/vector_add"

    def test_a_too_large_form_is_refused(self, visit: Visit, ada: User) -> None:
        client = visit(ada)
        data = self.form(csrf(client, "/"), **{"source-triton": "x" * (limits.REQUEST_BYTES + 1)})
        answer = client.post("/challenges/vector_add", data=data)
        assert answer.status_code == 413
        assert "too large" in answer.text


class TestLeaderboard:
    def test_a_board_shows_ranks_and_marks(
        self, visit: Visit, platform: Platform, seen: SubmissionView, ada: User, bob: User
    ) -> None:
        theirs = builders.judged(platform, bob, builders.accepted(500.0, 2.1))
        page = visit(ada).get("/leaderboards/vector_add").text
        assert page.index("bob") < page.index(f"/submissions/{seen.id}")
        assert f"/submissions/{theirs.id}" not in page
        assert "Not representative" in page
        assert "2.10×" in page

    def test_entries_without_speedup_are_shown(self, visit: Visit, platform: Platform, ada: User) -> None:
        builders.judged(platform, ada, builders.accepted(speedup=None))
        assert "812 µs" in visit(ada).get("/leaderboards/vector_add").text

    def test_bad_filters_get_an_error_page(self, visit: Visit, ada: User) -> None:
        assert visit(ada).get("/leaderboards/vector_add?language=perl").status_code == 400
        assert visit(ada).get("/leaderboards/vector_add?device=abacus").status_code == 400


def test_private_pages_are_not_shared_by_caches(visit: Visit, seen: SubmissionView, ada: User) -> None:
    for path in (
        "/",
        f"/submissions/{seen.id}",
        f"/submissions/{seen.id}/panel",
        f"/api/v1/submissions/{seen.id}",
    ):
        assert "private" in visit(ada).get(path).headers["Cache-Control"]


def test_no_page_needs_torch(tmp_path: Path) -> None:
    """A fresh process: other tests may have imported it here."""
    import subprocess
    import sys

    program = (
        "import sys; from pathlib import Path; from tests.web import builders\n"
        "from grader.service.platform import open_platform; from grader.web.app import create_app\n"
        "import grader.web.server\n"
        "client = create_app(open_platform(builders.make_settings(Path(sys.argv[1])))).test_client()\n"
        "assert client.get('/challenges/vector_add').status_code == 200\n"
        "assert client.get('/api/v1/challenges').status_code == 200\n"
        "print([name for name in ('torch', 'triton', 'docker', 'numpy') if name in sys.modules])\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_odd_bytes_in_addresses_are_no_server_error(app: Flask, visit: Visit, ada: User) -> None:
    client = visit(ada)
    for path in (
        "/challenges/%00",
        "/submissions/%00",
        "/submissions/%ff%fe",
        "/leaderboards/%2e%2e%2fetc",
        "/submissions?challenge=%00",
    ):
        assert client.get(path).status_code in (200, 400, 404), path
