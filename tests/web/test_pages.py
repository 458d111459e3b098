"""Every page, for nobody, student and staff; a submission's page in every state; and nothing that runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flask import Flask

from grader import limits
from grader.schemas.hardware import KernelUsage, Witness
from grader.schemas.report import Flag, Report
from grader.schemas.submission import State, SubmissionView
from grader.service.accounts import User
from grader.service.platform import Platform
from grader.web.pages import markdown
from tests.web import stage
from tests.web.conftest import Visit, csrf


@pytest.fixture
def seen(platform: Platform, ada: User) -> SubmissionView:
    return stage.judged(platform, ada, stage.accepted())


class TestForWhom:
    PUBLIC = (
        "/",
        "/challenges/vector_add",
        "/leaderboards/vector_add",
        "/leaderboards/vector_add?language=triton",
    )

    def test_anyone_reads_challenges_and_boards(
        self, visit: Visit, seen: SubmissionView, ada: User, teacher: User
    ) -> None:
        for user in (None, ada, teacher):
            client = visit(user)
            for path in self.PUBLIC:
                assert client.get(path).status_code == 200, (user, path)

    def test_submissions_need_signing_in(self, visit: Visit, seen: SubmissionView) -> None:
        for path in ("/submissions", f"/submissions/{seen.id}", f"/submissions/{seen.id}/panel"):
            answer = visit(None).get(path)
            assert answer.status_code == 302
            assert answer.headers["Location"].startswith("/sign-in?next=")

    def test_students_see_their_own_and_staff_all(
        self, visit: Visit, seen: SubmissionView, ada: User, bob: User, teacher: User
    ) -> None:
        for path in (f"/submissions/{seen.id}", f"/submissions/{seen.id}/panel"):
            assert visit(ada).get(path).status_code == 200
            assert visit(teacher).get(path).status_code == 200
            hidden = visit(bob).get(path)
            assert hidden.status_code == 404
            assert "ada" not in hidden.text

    def test_lists(self, visit: Visit, seen: SubmissionView, ada: User, bob: User, teacher: User) -> None:
        assert seen.id in visit(ada).get("/submissions").text
        assert seen.id not in visit(bob).get("/submissions?everyone=1").text
        assert seen.id not in visit(teacher).get("/submissions").text
        assert seen.id in visit(teacher).get("/submissions?everyone=1").text
        assert seen.id not in visit(ada).get("/submissions?challenge=matmul&page=nonsense").text

    @pytest.mark.parametrize(
        "path", ["/nothing", "/challenges/nothing", "/leaderboards/nothing", "/challenges/../etc"]
    )
    def test_unknown_addresses_get_a_page(self, visit: Visit, path: str) -> None:
        answer = visit(None).get(path)
        assert answer.status_code == 404
        assert answer.mimetype == "text/html"
        assert "Back to the challenges" in answer.text

    def test_static_files_may_be_kept(self, visit: Visit) -> None:
        found = re.findall(r'(?:href|src)="(/static/[^"]+)"', visit(None).get("/challenges/vector_add").text)
        assert len(found) >= 5
        for path in found:
            with visit(None).get(path) as answer:
                assert answer.status_code == 200
                assert answer.cache_control.max_age
            assert "?v=" in path


class TestChallenge:
    def test_shows_all_there_is(self, visit: Visit) -> None:
        page = visit(None).get("/challenges/vector_add").text
        for part in ("Signature", "solve(", "block edge", "Reference in PyTorch", "Sign in to submit"):
            assert part in page

    def test_a_language_that_nothing_serves_is_disabled_with_the_reason(self, visit: Visit) -> None:
        page = visit(None).get("/challenges/vector_add").text
        assert re.search(r'value="cuda" disabled', page)
        assert re.search(r'value="triton" checked', page)
        assert "CUDA C++ cannot be chosen: no device of this server can run it." in page

    def form(self, token: str, **values: str) -> dict[str, str]:
        given = {"csrf_token": token, "language": "triton", "source-triton": stage.SOURCE, "nonce": "n"}
        return given | values

    def test_submit_leads_to_the_submission(self, visit: Visit, ada: User) -> None:
        client = visit(ada)
        data = self.form(csrf(client, "/"), **{"source-triton": stage.SOURCE.replace("\n", "\r\n")})
        answer = client.post("/challenges/vector_add", data=data)
        assert answer.status_code == 303
        page = client.get(answer.headers["Location"]).text
        assert "Next in the queue" in page
        source = client.get(f"/api/v1{answer.headers['Location']}/source").json
        assert source
        assert source["source"] == stage.SOURCE
        assert source["filename"] == "vector_add.py"

    def test_twice_the_same_form_is_one_submission_and_edited_is_two(self, visit: Visit, ada: User) -> None:
        client = visit(ada)
        data = self.form(csrf(client, "/"))
        first, second = (
            client.post("/challenges/vector_add", data=data).headers["Location"] for _ in range(2)
        )
        assert first == second
        edited = data | {"source-triton": stage.SOURCE + "# more\n"}
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
    def test_languages_are_checked_again(self, visit: Visit, ada: User, language: str, status: int) -> None:
        client = visit(ada)
        data = self.form(csrf(client, "/"), language=language, **{"source-cuda": "int x;"})
        assert client.post("/challenges/vector_add", data=data).status_code == status

    def test_submitting_needs_signing_in(self, visit: Visit) -> None:
        client = visit(None)
        data = self.form(csrf(client), back="/challenges/vector_add")
        answer = client.post("/challenges/vector_add", data=data)
        assert answer.headers["Location"] == "/sign-in?next=/challenges/vector_add"

    def test_too_large_a_form(self, visit: Visit, ada: User) -> None:
        client = visit(ada)
        data = self.form(csrf(client, "/"), **{"source-triton": "x" * (limits.REQUEST_BYTES + 1)})
        answer = client.post("/challenges/vector_add", data=data)
        assert answer.status_code == 413
        assert "too large" in answer.text


class TestSubmission:
    def test_every_state(self, visit: Visit, platform: Platform, ada: User) -> None:
        client = visit(ada)
        ahead = stage.hand_in(platform, ada)
        view = stage.hand_in(platform, ada)

        def panel() -> str:
            answer = client.get(f"/submissions/{view.id}/panel")
            assert answer.status_code == 200
            whole = client.get(f"/submissions/{view.id}").text
            assert ('http-equiv="refresh"' in whole) == ('data-final=""' in whole)
            return answer.text

        assert "Number 2 in the queue" in panel()
        assert client.get(f"/submissions/{ahead.id}").status_code == 200
        stage.finish(platform, stage.take(platform), stage.wrong())
        assert "Next in the queue" in panel()
        held = stage.take(platform)
        assert "Compiling" in panel()
        stage.hand_on(platform, held)
        assert "waiting for the device" in panel()
        assert "this is number 1" in panel()
        held = stage.take(platform)
        stage.move(platform, held, State.TESTING, 3, 19, "nan")
        assert "Testing 3 of 19" in panel()
        assert "Cancel" in panel()
        stage.move(platform, held, State.TIMING, 1, 2)
        assert "Timing 1 of 2" in panel()
        stage.finish(platform, held, stage.accepted())
        assert "Every case passed." in panel()
        assert "Cancel" not in panel()

    def test_failed_is_ours(self, visit: Visit, platform: Platform, ada: User) -> None:
        view = stage.hand_in(platform, ada)
        stage.fail(platform, stage.take(platform), "the <worker> died")
        page = visit(ada).get(f"/submissions/{view.id}").text
        assert "We failed, not you." in page
        assert "the &lt;worker&gt; died" in page

    def test_cancel(self, visit: Visit, platform: Platform, ada: User) -> None:
        client = visit(ada)
        view = stage.hand_in(platform, ada)
        path = f"/submissions/{view.id}"
        answer = client.post(f"{path}/cancel", data={"csrf_token": csrf(client, path)})
        assert answer.headers["Location"] == path
        assert "It was taken back" in client.get(path).text
        assert client.post(f"{path}/cancel", data={"csrf_token": csrf(client, "/")}).status_code == 303

    def test_cancel_of_what_is_done_shows_it(
        self, visit: Visit, seen: SubmissionView, ada: User, bob: User
    ) -> None:
        client = visit(ada)
        data = {"csrf_token": csrf(client, "/")}
        assert client.post(f"/submissions/{seen.id}/cancel", data=data).status_code == 303
        other = visit(bob)
        data = {"csrf_token": csrf(other, "/")}
        assert other.post(f"/submissions/{seen.id}/cancel", data=data).status_code == 404

    def test_accepted_report(self, visit: Visit, seen: SubmissionView, ada: User) -> None:
        page = visit(ada).get(f"/submissions/{seen.id}").text
        for part in (
            "812 µs",
            "± 4.0 %",
            "1.31×",
            "eager",
            "compile",
            "not ranked",
            "62 % of speed of light",
        ):
            assert part in page, part
        for part in (
            "Not representative",
            "resembles another submission",
            "hidden 1",
            "It printed something",
            "torch",
        ):
            assert part in page, part
        assert "secret" not in page

    def test_what_a_gpu_adds_to_a_report(self, visit: Visit, platform: Platform, ada: User) -> None:
        page = visit(ada).get(f"/submissions/{stage.judged(platform, ada, stage.on_gpu()).id}").text
        for part in (
            "Not gated: a call did not queue",
            "38.2 µs here, and below 400 µs",
            "12.3 µs were added: outside the gate",
            "148 µs of fixed cost taken off a round.",
            "The host needed 9.87 µs a call, which is no part of the time.",
            "GPU: SM 1,755 MHz (1,740 to 1,980), memory 3,201 MHz, 612 W, up to 61 °C; held below its highest clocks "
            "by power cap, thermal slowdown; 1 round made again",
            "GPU slowed",
            "calls a library kernel",
            "<code>aten.mm</code>, <code>aten._softmax</code>.",
        ):
            assert part in page, part

    def test_what_each_kernel_takes(self, visit: Visit, platform: Platform, ada: User) -> None:
        page = visit(ada).get(f"/submissions/{stage.judged(platform, ada, stage.on_gpu()).id}").text
        for part in (
            "<code>scan&lt;8&gt;</code>",
            "4,096 B",
            "380 B",
            "5,904 B",
            "7,488 B",
            '<span class="chip warn">spills</span>',
            "per thread, shared memory per block.",
        ):
            assert part in page, part
        assert page.count('<span class="chip warn">spills</span>') == 1
        assert "As the process says" not in page

    def test_an_ordinary_report_has_none_of_it(self, visit: Visit, seen: SubmissionView, ada: User) -> None:
        page = visit(ada).get(f"/submissions/{seen.id}").text
        for part in (
            "Kernels",
            "GPU:",
            "Not gated",
            "were added",
            "fixed cost",
            "The host needed",
            "torch's own",
        ):
            assert part not in page, part

    def test_kernels_that_only_the_runner_tells_of_are_labelled(
        self, visit: Visit, platform: Platform, ada: User
    ) -> None:
        kernel = KernelUsage(name="twice", registers=32, stack_bytes=8, said_by=Witness.RUNNER)
        view = stage.judged(platform, ada, stage.accepted(kernels=[kernel]))
        page = visit(ada).get(f"/submissions/{view.id}").text
        assert "As the process says that ran the submission" in page

    def test_wrong_report(self, visit: Visit, platform: Platform, ada: User) -> None:
        page = visit(ada).get(f"/submissions/{stage.judged(platform, ada, stage.wrong()).id}").text
        replay = "grader test add.py -c vector_add --case &#39;tail of block&#39; --seed 1234567"
        for part in (
            replay,
            "mask its loads",
            "out[1023]",
            "33 of 1,024 elements",
            "not run",
            "differs from the reference",
        ):
            assert part in page, part
        assert "--case hidden" not in page
        assert "n was 31" not in page

    def test_compiler_log(self, visit: Visit, platform: Platform, ada: User) -> None:
        page = visit(ada).get(f"/submissions/{stage.judged(platform, ada, stage.not_compiled()).id}").text
        assert "solution.cu(3): error: &lt;img src=x onerror=alert(1)&gt;" in page
        assert "Close the bracket." in page

    def test_panel_is_cheap_to_poll(self, visit: Visit, platform: Platform, ada: User) -> None:
        client = visit(ada)
        path = f"/submissions/{stage.hand_in(platform, ada).id}/panel"
        etag = client.get(path).headers["ETag"]
        assert client.get(path, headers={"If-None-Match": etag}).status_code == 304

    def test_listing_numbers_each_line(self, visit: Visit, seen: SubmissionView, ada: User) -> None:
        page = visit(ada).get(f"/submissions/{seen.id}").text
        assert len(re.findall(r'id="L-\d+"', page)) == stage.SOURCE.count("\n")
        assert "<b>not bold" not in page


class TestLeaderboard:
    def test_ranks_and_marks(
        self, visit: Visit, platform: Platform, seen: SubmissionView, ada: User, bob: User
    ) -> None:
        theirs = stage.judged(platform, bob, stage.accepted(500.0, 2.1))
        page = visit(ada).get("/leaderboards/vector_add").text
        assert page.index("bob") < page.index(f"/submissions/{seen.id}")
        assert f"/submissions/{theirs.id}" not in page
        assert "Not representative" in page
        assert "2.10×" in page

    def test_entries_without_speedup(self, visit: Visit, platform: Platform, ada: User) -> None:
        stage.judged(platform, ada, stage.accepted(speedup=None))
        assert "812 µs" in visit(None).get("/leaderboards/vector_add").text

    def test_bad_filters_get_a_page(self, visit: Visit) -> None:
        assert visit(None).get("/leaderboards/vector_add?language=perl").status_code == 400
        assert visit(None).get("/leaderboards/vector_add?device=abacus").status_code == 400


class TestNothingRuns:
    """Whatever people write is text."""

    EVIL = "</pre></textarea><script>alert(1)</script><img src=x onerror=alert(1)>"

    def evil_report(self) -> Report:
        evil = self.EVIL
        report = stage.wrong()
        case = report.cases[1].model_copy(update={"name": evil, "detail": evil, "hint": evil, "output": evil})
        update = {
            "cases": [case],
            "compiler_log": evil,
            "detail": evil,
            "hint": evil,
            "environment": {evil: evil},
            "kernels": [KernelUsage(name=evil, registers=1)],
            "library_ops": [evil],
            "flags": [Flag.LIBRARY_KERNEL],
        }
        return report.model_copy(update=update)

    def test_in_what_students_write(self, visit: Visit, platform: Platform, ada: User, teacher: User) -> None:
        view = stage.judged(
            platform, ada, self.evil_report(), source=f"# {self.EVIL}\n", filename="<script>x.py"
        )
        for path in (f"/submissions/{view.id}", f"/submissions/{view.id}/panel", "/submissions?everyone=1"):
            page = visit(teacher).get(path).text
            assert "<script>alert" not in page
            assert "<img" not in page
            assert "<script>x" not in page

    @pytest.mark.parametrize(
        "spec",
        [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "<a href='javascript:alert(1)'>x</a>",
            "[x](javascript:alert(1))",
            "<p style='position:fixed'>x</p>",
            "<iframe src='//evil.example'></iframe>",
            "<svg onload=alert(1)>",
            "<form action='//evil.example'><input name=password></form>",
            "```python\n<script>alert(1)</script>\n```",
            "<details ontoggle=alert(1) open>x</details>",
        ],
    )
    def test_in_a_spec(self, spec: str) -> None:
        html = str(markdown.render(spec))
        assert not re.search(r"<(script|img|iframe|svg|form|input)|\son\w+=|\sstyle=|href=.javascript", html)

    def test_a_spec_keeps_what_is_harmless(self) -> None:
        html = str(
            markdown.render(
                "<details><summary>Why</summary>\n\n- **so**\n\n</details>\n\n| a |\n|---|\n| 1 |\n"
            )
        )
        for part in ("<details>", "<summary>Why</summary>", "<strong>so</strong>", "<td>1</td>"):
            assert part in html

    def test_headers_forbid_it_anyway(self, visit: Visit, seen: SubmissionView, ada: User) -> None:
        client = visit(ada)
        for path in ("/", f"/submissions/{seen.id}", "/nothing", "/api/v1/me", "/static/page.js"):
            with client.get(path) as answer:
                headers = answer.headers
            policy = headers["Content-Security-Policy"]
            assert "default-src 'self'" in policy
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Referrer-Policy"] == "same-origin"

    def test_no_page_needs_an_inline_script_or_style(
        self, visit: Visit, platform: Platform, seen: SubmissionView, ada: User
    ) -> None:
        client = visit(ada)
        waiting = stage.hand_in(platform, ada)
        for path in (
            *TestForWhom.PUBLIC,
            "/submissions",
            f"/submissions/{seen.id}",
            f"/submissions/{waiting.id}",
            "/x",
        ):
            page = client.get(path).text
            assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=", page), path
            assert not re.search(r'(?:src|href)="(?:https?:)?//', page), path


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
        "import sys; from pathlib import Path; from tests.web import stage\n"
        "from grader.service.platform import open_platform; from grader.web.app import create_app\n"
        "import grader.web.server\n"
        "client = create_app(open_platform(stage.make_settings(Path(sys.argv[1])))).test_client()\n"
        "assert client.get('/challenges/vector_add').status_code == 200\n"
        "assert client.get('/api/v1/challenges').status_code == 200\n"
        "print([name for name in ('torch', 'triton', 'docker', 'numpy') if name in sys.modules])\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_odd_bytes_in_addresses(app: Flask, visit: Visit, ada: User) -> None:
    client = visit(ada)
    for path in (
        "/challenges/%00",
        "/submissions/%00",
        "/submissions/%ff%fe",
        "/leaderboards/%2e%2e%2fetc",
        "/submissions?challenge=%00",
    ):
        assert client.get(path).status_code in (200, 400, 404), path
