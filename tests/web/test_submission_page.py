"""A submission's page in every state, and what each report shows."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape

import pytest
from markupsafe import escape
from pygments.lexer import Lexer  # type: ignore[import-untyped]

from grader import limits
from grader.languages import Language
from grader.records import workers
from grader.records.engine import writing
from grader.records.models import utcnow
from grader.schemas.hardware import KernelUsage, Witness
from grader.schemas.submission import State, SubmissionView
from grader.service.accounts.accounts import User
from grader.service.boards import portfolio_pdf
from grader.service.operation import queues
from grader.service.platform import Platform
from tests.web import builders
from tests.web.conftest import Visit, csrf


class TestSubmission:
    def test_every_state_is_shown(self, visit: Visit, platform: Platform, ada: User) -> None:
        client = visit(ada)
        ahead = builders.hand_in(platform, ada)
        view = builders.hand_in(platform, ada)

        def panel() -> str:
            answer = client.get(f"/submissions/{view.id}/panel")
            assert answer.status_code == 200
            whole = client.get(f"/submissions/{view.id}").text
            assert ('http-equiv="refresh"' in whole) == ('data-final=""' in whole)
            return answer.text

        assert "Number 2 in the queue" in panel()
        assert client.get(f"/submissions/{ahead.id}").status_code == 200
        builders.finish(platform, builders.take(platform), builders.wrong())
        assert "Next in the queue" in panel()
        held = builders.take(platform)
        assert "Compiling" in panel()
        builders.hand_on(platform, held)
        assert "waiting for the device" in panel()
        assert "this is number 1" in panel()
        held = builders.take(platform)
        builders.move(platform, held, State.TESTING, 2, 19, "Testing 3 of 16 public cases: nan")
        assert 'data-sentence="Testing 3 of 16 public cases: nan"' in panel()
        assert "Cancel" in panel()
        builders.move(platform, held, State.TIMING, 17, 19, "Timing 2 of 2 workloads: large")
        assert "Timing 2 of 2 workloads" in panel()
        builders.finish(platform, held, builders.accepted())
        assert "Every case passed." in panel()
        assert "Cancel" not in panel()

    def test_the_reason_for_waiting_is_shown(
        self, visit: Visit, platform: Platform, ada: User, teacher: User
    ) -> None:
        client = visit(ada)
        view = builders.hand_in(platform, ada)

        def panel() -> str:
            return client.get(f"/submissions/{view.id}/panel").text

        assert 'data-waits-for="no_worker"' in panel()
        assert "No worker that serves cpu is running" in panel()
        queues.pause_queue(platform, teacher, "cpu", "an <exam>")
        assert "Staff have paused the queue of cpu: an &lt;exam&gt;.</span> Since <time" in panel()
        queues.resume_queue(platform, teacher, "cpu")
        with writing(platform.sessions) as session:
            # From a future hour: it stays alive during the test.
            workers.register(session, "w", "cpu", list(Language), utcnow() + timedelta(hours=1))
        assert "data-waits-for" not in panel()
        assert "The wait is not known yet." in panel()

    def test_a_reused_result_is_marked(self, visit: Visit, platform: Platform, ada: User) -> None:
        source = {"source": builders.SOURCE.replace("\n", "\r\n")}
        seen = builders.judged(platform, ada, builders.accepted(), filename=f"{builders.SLUG}.py")
        client = visit(ada)
        page = f"/challenges/{builders.SLUG}"
        form = {
            "csrf_token": csrf(client, page),
            "language": "triton",
            "source-triton": source["source"],
            "nonce": "n",
        }
        answer = client.post(page, data=form | {"reuse": "1"})
        assert answer.headers["Location"] == f"/submissions/{seen.id}?reused=1"
        assert 'id="reused"' in client.get(answer.headers["Location"]).text
        assert 'id="reused"' not in client.get(f"/submissions/{seen.id}").text
        anew = client.post(page, data=form)
        assert seen.id not in anew.headers["Location"]

    def test_a_failed_submission_is_our_fault(self, visit: Visit, platform: Platform, ada: User) -> None:
        view = builders.hand_in(platform, ada)
        builders.fail(platform, builders.take(platform), "the <worker> died")
        page = visit(ada).get(f"/submissions/{view.id}").text
        assert "The platform failed, not your code." in page
        assert "the &lt;worker&gt; died" in page

    def test_a_submission_can_be_cancelled(self, visit: Visit, platform: Platform, ada: User) -> None:
        client = visit(ada)
        view = builders.hand_in(platform, ada)
        path = f"/submissions/{view.id}"
        answer = client.post(f"{path}/cancel", data={"csrf_token": csrf(client, path)})
        assert answer.headers["Location"] == path
        assert "It was cancelled before it was judged" in client.get(path).text
        assert client.post(f"{path}/cancel", data={"csrf_token": csrf(client, "/")}).status_code == 303

    def test_cancelling_a_done_submission_shows_its_result(
        self, visit: Visit, seen: SubmissionView, ada: User, bob: User
    ) -> None:
        client = visit(ada)
        data = {"csrf_token": csrf(client, "/")}
        assert client.post(f"/submissions/{seen.id}/cancel", data=data).status_code == 303
        other = visit(bob)
        data = {"csrf_token": csrf(other, "/")}
        assert other.post(f"/submissions/{seen.id}/cancel", data=data).status_code == 404

    def test_an_accepted_report_is_shown(self, visit: Visit, seen: SubmissionView, ada: User) -> None:
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
            "1 of 1 hidden case passed.",
            "What it printed",
            "torch",
        ):
            assert part in page, part
        assert "secret" not in page

    def test_that_times_are_a_models_is_said_once(self, visit: Visit, platform: Platform, ada: User) -> None:
        report = builders.profiled(device="emulated")
        page = visit(ada).get(f"/submissions/{builders.judged(platform, ada, report).id}").text
        assert page.count("a model") == 1
        assert "Not representative: times on emulated are those of a model of an NVIDIA H200" in page

    def test_why_and_what_next_are_in_the_verdict(self, visit: Visit, platform: Platform, ada: User) -> None:
        client = visit(ada)
        for report, why, following in (
            (builders.wrong(), "out[1023] is 0.0, expected 1.5", "mask its loads and stores."),
            (builders.profiled(), "Every case passed.", "Try next: "),
        ):
            page = client.get(f"/submissions/{builders.judged(platform, ada, report).id}").text
            verdict = page.partition('aria-label="Verdict"')[2].partition("</section>")[0]
            assert why in verdict
            assert re.search(rf'id="next">.*{re.escape(following)}', verdict)
            assert "Back to the editor" in verdict
            # The rest is folded.
            assert '<details class="card" id="cases">' in page
            assert page.count("mask its loads and stores.") == (why != "Every case passed.")

    def test_a_gpu_report_shows_its_details(self, visit: Visit, platform: Platform, ada: User) -> None:
        page = visit(ada).get(f"/submissions/{builders.judged(platform, ada, builders.on_gpu()).id}").text
        for part in (
            "Not gated: a call did not queue",
            "38.2 µs here, and below 400 µs",
            "12.3 µs were added: outside the gate",
            "148 µs of fixed cost subtracted per round.",
            "The host needed 9.87 µs per call, which does not count.",
            "GPU: SM 1,755 MHz (1,740 to 1,980), memory 3,201 MHz, 612 W, up to 61 °C; clocks were limited "
            "by power cap, thermal slowdown; 1 round repeated",
            "GPU slowed",
            "calls a library kernel",
            "<code>aten.mm</code>, <code>aten._softmax</code>.",
        ):
            assert part in page, part

    def test_a_kill_from_outside_is_reported(self, visit: Visit, platform: Platform, ada: User) -> None:
        remark = "The box was killed from outside once and the submission was judged again."
        report = builders.accepted(remarks=[remark])
        assert remark in visit(ada).get(f"/submissions/{builders.judged(platform, ada, report).id}").text

    def test_each_kernels_resources_are_shown(self, visit: Visit, platform: Platform, ada: User) -> None:
        page = visit(ada).get(f"/submissions/{builders.judged(platform, ada, builders.on_gpu()).id}").text
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
        assert "Reported by the process" not in page

    def test_an_ordinary_report_has_no_gpu_details(
        self, visit: Visit, seen: SubmissionView, ada: User
    ) -> None:
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

    def test_kernels_reported_by_the_runner_are_labelled(
        self, visit: Visit, platform: Platform, ada: User
    ) -> None:
        kernel = KernelUsage(name="twice", registers=32, stack_bytes=8, said_by=Witness.RUNNER)
        view = builders.judged(platform, ada, builders.accepted(kernels=[kernel]))
        page = visit(ada).get(f"/submissions/{view.id}").text
        assert "Reported by the process that ran the submission" in page

    def test_a_wrong_report_is_shown(self, visit: Visit, platform: Platform, ada: User) -> None:
        page = visit(ada).get(f"/submissions/{builders.judged(platform, ada, builders.wrong()).id}").text
        replay = (
            "grader test add.py -c vector_add --device emulated --case &#39;tail of block&#39; --seed 1234567"
        )
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

    def test_the_compiler_log_is_shown_and_escaped(self, visit: Visit, platform: Platform, ada: User) -> None:
        page = (
            visit(ada).get(f"/submissions/{builders.judged(platform, ada, builders.not_compiled()).id}").text
        )
        assert '<a href="#L-3">solution.cu(3)</a>: error: &lt;img src=x onerror=alert(1)&gt;' in page
        assert "Close the bracket." in page

    def test_an_unchanged_panel_is_not_sent_again(self, visit: Visit, platform: Platform, ada: User) -> None:
        client = visit(ada)
        path = f"/submissions/{builders.hand_in(platform, ada).id}/panel"
        etag = client.get(path).headers["ETag"]
        assert client.get(path, headers={"If-None-Match": etag}).status_code == 304

    def test_the_listing_numbers_each_line(self, visit: Visit, seen: SubmissionView, ada: User) -> None:
        page = visit(ada).get(f"/submissions/{seen.id}").text
        assert len(re.findall(r'id="L-\d+"', page)) == builders.SOURCE.count("\n")
        assert "<b>not bold" not in page


class TestListing:
    @pytest.mark.parametrize("source", [" \n" * 5_000 + "x", '"\\N{' * 60_000, "'" * 250_000])
    def test_students_sources_are_not_lexed(
        self, visit: Visit, platform: Platform, ada: User, monkeypatch: pytest.MonkeyPatch, source: str
    ) -> None:
        """Pygments needs minutes for these, in one step that blocks all other requests of the process."""

        def lex(*_: object) -> None:
            raise AssertionError("a lexer was asked")

        monkeypatch.setattr(Lexer, "get_tokens", lex)
        view = builders.judged(platform, ada, builders.accepted(), source=source)
        again = builders.judged(platform, ada, builders.not_compiled(), source=f"{source}\nend")
        client = visit(ada)
        for path in (f"/submissions/{view.id}", f"/submissions/{again.id}", f"/submissions/{again.id}/diff"):
            answer = client.get(path)
            assert answer.status_code == 200
        assert (
            f">{escape(source.rsplit(chr(10), 1)[-1])}</span>" in client.get(f"/submissions/{view.id}").text
        )

    def test_a_source_of_very_many_lines_is_shown_completely(
        self, visit: Visit, platform: Platform, ada: User
    ) -> None:
        source = "\n".join(f"a < {number}" for number in range(limits.LISTED_LINES + 2))
        view = builders.judged(platform, ada, builders.accepted(), source=source)
        page = visit(ada).get(f"/submissions/{view.id}").text
        listing = page.partition('<pre id="source"')[2].partition("<code>")[2].partition("</code>")[0]
        assert listing.count("<span") == limits.LISTED_LINES
        assert unescape(re.sub(r"<[^>]+>", "", listing)) == source


class TestOwn:
    def test_a_note_is_kept_and_read_by_its_author_alone(
        self, visit: Visit, platform: Platform, ada: User, teacher: User
    ) -> None:
        view, client = builders.judged(platform, ada, builders.accepted()), visit(ada)
        at = f"/submissions/{view.id}"
        assert "Write a note that only you can read" in client.get(at).text

        def send(text: str) -> tuple[int, str]:
            sent = client.post(f"{at}/note", data={"text": text, "csrf_token": csrf(client, at)})
            return sent.status_code, sent.text

        assert send("**Tiles** of 32 <b>x</b>\r\nmore")[0] == 303
        page = client.get(at).text
        assert "<strong>Tiles</strong> of 32 &lt;b&gt;x&lt;/b&gt;<br>" in page
        assert "**Tiles** of 32 &lt;b&gt;x&lt;/b&gt;\n" in client.get("/submissions").text.replace(
            "</span>", "\n"
        )
        for path in (at, "/submissions?everyone=1"):
            assert "Tiles" not in visit(teacher).get(path).text
        # Refused text stays in the form.
        status, page = send("y" * (limits.NOTE_CHARS + 1))
        assert (status, "y" * (limits.NOTE_CHARS + 1) in page, "the limit is 4,000" in page) == (
            400,
            True,
            True,
        )

    def test_an_entry_is_taken_off_the_board_and_put_back(
        self, visit: Visit, platform: Platform, ada: User, teacher: User
    ) -> None:
        view, client = builders.judged(platform, ada, builders.accepted()), visit(ada)
        at, board = f"/submissions/{view.id}", f"/leaderboards/{builders.SLUG}"

        def press(action: str) -> int:
            data = {"action": action, "csrf_token": csrf(client, at)}
            return client.post(f"{at}/withdraw", data=data).status_code

        assert "Take off the leaderboard" in client.get(at).text
        assert "Take off the leaderboard" not in visit(teacher).get(at).text
        assert press("withdraw") == 303
        assert "You took this entry off the leaderboard" in client.get(at).text
        assert "ada took this entry off the leaderboard" in visit(teacher).get(at).text
        assert "off the board</span>" in visit(teacher).get("/submissions?everyone=1").text
        assert "Nobody is on this board yet" in client.get(board).text
        assert press("put_back") == 303
        assert "Nobody is on this board yet" not in client.get(board).text
        wrong = builders.judged(platform, ada, builders.wrong(), source="x = 2\n")
        assert "Take off the leaderboard" not in client.get(f"/submissions/{wrong.id}").text

    def test_the_portfolio_offers_what_the_server_can_write(
        self, visit: Visit, platform: Platform, ada: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        client = visit(ada)
        assert "no accepted kernel yet" in client.get("/account/portfolio").text
        view = builders.judged(platform, ada, builders.accepted())
        page = client.get("/account/portfolio").text
        assert f'value="{view.id}" checked' in page
        monkeypatch.setattr(portfolio_pdf, "can_write", lambda: False)
        page = client.get("/account/portfolio").text
        assert ("Download PDF" in page, "the extra <code>pdf</code>" in page) == (False, True)
        refused = client.get("/account/portfolio.pdf")
        assert (refused.status_code, "ReportLab or its font is not installed" in refused.text) == (400, True)
        text = client.get(f"/account/portfolio.md?submission={view.id}")
        assert text.headers["Content-Disposition"] == "attachment; filename=portfolio.md"
        assert text.text.startswith("# Kernels of ada\n")
