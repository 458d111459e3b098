"""Runs from the API and from the editor's form, and the page of one in progress."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import update

from grader import limits
from grader.languages import Language
from grader.records import workers
from grader.records.engine import writing
from grader.records.models import SubmissionRow, utcnow
from grader.schemas.card_tool import CardFinding, CardTool, CardToolRun
from grader.schemas.own_case import OutputRecord, OwnCase, OwnRun
from grader.schemas.report import CaseReport, CaseVerdict, Report, ThreadPrints
from grader.schemas.submission import JudgingReason, RunBody, State, SubmissionList, SubmissionView
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions import submissions
from grader.service.submissions.run import run
from tests.web import builders
from tests.web.conftest import Visit, csrf
from tests.web.refusals import API, refused

WANTED = {"challenge": builders.SLUG, "source": builders.SOURCE, "filename": "add.py"}
PAGE = f"/challenges/{builders.SLUG}"


def started(platform: Platform, user: User, **values: Any) -> SubmissionView:
    return run(platform, user, RunBody(**(WANTED | values)))


def public(report: Report) -> Report:
    shown = [case for case in report.cases if not case.hidden]
    return report.model_copy(update={"cases": shown, "workloads": []})


def press(client: FlaskClient, action: str, **values: str) -> Any:
    form = {"csrf_token": csrf(client, PAGE), "language": "triton", "source-triton": builders.SOURCE}
    return client.post(PAGE, data=form | {"action": action, "nonce": "n"} | values)


def shown(client: FlaskClient, view: SubmissionView) -> str:
    answer = client.get(f"/submissions/{view.id}/panel")
    assert answer.status_code == 200
    return " ".join(answer.text.split())


class TestApi:
    def test_a_run_is_created(self, call: Visit, ada: User) -> None:
        client = call(ada)
        answer = client.post(f"{API}/runs", json=WANTED)
        view = SubmissionView.model_validate_json(answer.data)
        assert (answer.status_code, view.kind, view.state) == (201, JudgingReason.RUN, State.QUEUED)
        assert answer.headers["Location"] == f"{API}/submissions/{view.id}"
        assert client.get(answer.headers["Location"]).json["kind"] == "run"

    def test_the_list_includes_runs_on_request(self, call: Visit, ada: User) -> None:
        client = call(ada)
        view = SubmissionView.model_validate_json(client.post(f"{API}/runs", json=WANTED).data)

        def ids(query: str) -> list[str]:
            found = SubmissionList.model_validate_json(client.get(f"{API}/submissions{query}").data)
            return [submission.id for submission in found.submissions]

        assert ids("") == []
        assert ids("?kind=run") == [view.id]
        assert client.get(f"{API}/submissions?kind=course").status_code == 400

    def test_a_run_takes_no_reuse(self, call: Visit, ada: User) -> None:
        assert call(ada).post(f"{API}/runs", json=WANTED | {"reuse": True}).status_code == 400

    def test_a_bad_run_is_refused(self, call: Visit, ada: User) -> None:
        refused(call(ada).post(f"{API}/runs", json=WANTED | {"source": " "}), 400, "bad_source")
        refused(call(None).post(f"{API}/runs", json=WANTED), 401, "not_signed_in")

    def test_too_many_runs_say_when_more_are_possible(
        self, call: Visit, platform: Platform, ada: User
    ) -> None:
        object.__setattr__(platform, "settings", platform.settings.model_copy(update={"run_limit": 1}))
        client = call(ada)
        assert client.post(f"{API}/runs", json=WANTED).status_code == 201
        answer = client.post(f"{API}/runs", json=WANTED)
        refused(answer, 429, "too_many")
        assert "The next ones are possible from" in answer.json["error"]["hint"]
        assert client.post(f"{API}/submissions", json=WANTED).status_code == 201

    def test_runs_and_submissions_have_separate_rate_limits(self, call: Visit, ada: User) -> None:
        client = call(ada)
        sent = [client.post(f"{API}/runs", json=WANTED).status_code for _ in range(limits.RUN_PER_MINUTE + 1)]
        assert sent == [201] * limits.RUN_PER_MINUTE + [429]
        assert client.post(f"{API}/submissions", json=WANTED).status_code == 201


class TestForm:
    def test_run_and_submit_buttons_set_the_kind(self, visit: Visit, platform: Platform, ada: User) -> None:
        client = visit(ada)
        kinds = []
        for action in ("run", "submit"):
            answer = press(client, action)
            assert answer.status_code == 303
            submission = answer.headers["Location"].split("/")[-1]
            kinds.append(submissions.get_submission(platform, ada, submission).kind)
        assert kinds == [JudgingReason.RUN, JudgingReason.COURSE]

    def test_pressing_run_twice_creates_two_runs(self, visit: Visit, ada: User) -> None:
        client = visit(ada)
        first, second = (press(client, "run").headers["Location"] for _ in range(2))
        assert first != second
        assert "a newer run of yours took its place" in client.get(first).text

    def test_a_refused_run_returns_to_the_editor(self, visit: Visit, ada: User) -> None:
        answer = press(visit(ada), "run", **{"source-triton": " "})
        assert answer.status_code == 400
        assert 'role="alert"' in answer.text

    def test_the_page_has_a_place_for_the_run(self, visit: Visit, ada: User) -> None:
        page = visit(ada).get(PAGE).text
        for part in (
            'name="action" value="run"',
            'id="run"',
            "static/live.js",
            "static/run.js",
            "report.css",
        ):
            assert part in page, part

    def test_the_list_of_runs_is_separate(self, visit: Visit, platform: Platform, ada: User) -> None:
        view = started(platform, ada)
        client = visit(ada)
        assert view.id not in client.get("/submissions").text
        runs = client.get("/submissions?kind=run").text
        assert view.id in runs
        assert "My runs" in runs
        assert 'href="/submissions?kind=run"' in client.get("/submissions").text
        assert "/submissions?kind=run" in client.get(f"/submissions/{view.id}").text


class TestPanel:
    def test_the_panel_follows_a_run_through_its_phases(
        self, visit: Visit, platform: Platform, ada: User
    ) -> None:
        client, view = visit(ada), started(platform, ada)
        assert 'data-kind="run"' in shown(client, view)
        assert ">timing</li>" not in shown(client, view)
        held = builders.take(platform)
        builders.move(platform, held, State.TESTING, 1, 2, "basic")
        assert "Every public case runs" in shown(client, view)
        builders.finish(platform, held, public(builders.accepted()))
        panel = shown(client, view)
        assert 'id="only-a-run"' in panel
        assert "it does not count" in panel
        assert "Every visible case passed." in panel

    def test_the_panel_shows_elapsed_times(self, visit: Visit, platform: Platform, ada: User) -> None:
        client, view = visit(ada), started(platform, ada)

        def clocks() -> list[str]:
            return re.findall(r'data-elapsed="([^"]+)"', shown(client, view))

        assert len(set(clocks())) == 1
        since = utcnow() - timedelta(minutes=5)
        with writing(platform.sessions) as session:
            session.execute(update(SubmissionRow).values(created_at=since))
        held = builders.take(platform)
        phase, whole = clocks()
        assert phase > whole
        builders.hand_on(platform, held)
        assert len(clocks()) == 2

    @pytest.mark.parametrize("steps", range(4))
    def test_a_run_can_be_cancelled_in_every_phase(
        self, visit: Visit, platform: Platform, ada: User, steps: int
    ) -> None:
        client, view = visit(ada), builders.hand_in(platform, ada)
        if steps > 0:
            held = builders.take(platform)
            for state in (State.TESTING, State.TIMING)[: steps - 1]:
                builders.move(platform, held, state, 0, 2)
        panel = shown(client, view)
        assert f'action="/submissions/{view.id}/cancel"' in panel
        data = {"csrf_token": csrf(client, f"/submissions/{view.id}")}
        assert client.post(f"/submissions/{view.id}/cancel", data=data).status_code == 303
        with platform.sessions() as session:
            row = session.query(SubmissionRow).one()
            assert row.cancel_requested or row.state is State.CANCELLED

    def test_the_panel_shows_the_place_and_the_expected_wait(
        self, visit: Visit, platform: Platform, ada: User
    ) -> None:
        builders.judged(platform, ada, builders.accepted())
        builders.hand_in(platform, ada)
        view = builders.hand_in(platform, ada)
        with writing(platform.sessions) as session:
            workers.register(session, "w", "cpu", list(Language), utcnow() + timedelta(hours=1))
        panel = shown(visit(ada), view)
        assert "Number 2 in the queue" in panel
        assert "One submission is ahead of it." in panel
        assert "It should start" in panel

    def test_script_controls_are_hidden_without_javascript(
        self, visit: Visit, platform: Platform, ada: User
    ) -> None:
        panel = shown(visit(ada), builders.hand_in(platform, ada))
        assert re.search(r"<button[^>]*data-tell hidden>", panel)
        assert re.search(r'data-now="[^"]+"', panel)
        assert "data-connection></p>" in panel


class TestOwnCase:
    """One case with own sizes and inputs, from the form: it works without a script."""

    def asked(self, **fields: str) -> dict[str, str]:
        return {"case": "basic"} | {name.replace("_", "-"): text for name, text in fields.items()}

    def test_the_form_lists_cases_sizes_and_inputs(self, visit: Visit, ada: User) -> None:
        page = visit(ada).get(f"{PAGE}?case=basic&size-n=9").text
        for part in (
            '<option value="basic"',
            'name="size-n" value="9"',
            'name="input-a"',
            'value="run-case"',
        ):
            assert part in page, part
        assert re.search(r'<details class="own-case"[^>]* open>', page)

    def test_it_runs_what_the_form_says(self, visit: Visit, platform: Platform, ada: User) -> None:
        answer = press(visit(ada), "run-case", **self.asked(size_n="2*3", input_a="[1, 2, 3, 4, 5, 6]"))
        assert answer.status_code == 303
        with platform.sessions() as session:
            row = session.query(SubmissionRow).one()
            assert row.kind is JudgingReason.RUN
            wanted = {"name": "basic", "sizes": {"n": "2*3"}, "inputs": {"a": "[1, 2, 3, 4, 5, 6]"}}
            assert OwnCase.model_validate_json(row.own_case or "") == OwnCase(**wanted)

    @pytest.mark.parametrize(
        ("fields", "status", "sentence"),
        [
            ({"size_n": "-4"}, 400, "Size n is negative: -4."),
            ({"input_a": "rampp"}, 400, "there is no recipe &#39;rampp&#39;"),
            (
                {"tool": "memcheck"},
                400,
                "compute-sanitizer, memcheck runs on a GPU, and the board cpu has none.",
            ),
            ({"tool": "gdb"}, 400, "tool: Input should be"),
            ({"case": "", "size_n": "4"}, 400, "No case is chosen."),
            ({"size_n": "1" * 300}, 400, "sizes n: an expression has at most 200 characters."),
            ({"case_version": "999"}, 409, "you chose the case &#39;basic&#39; in version 999"),
        ],
    )
    def test_a_refusal_keeps_code_and_fields(
        self, visit: Visit, ada: User, fields: dict[str, str], status: int, sentence: str
    ) -> None:
        given = self.asked() | {name.replace("_", "-"): text for name, text in fields.items()}
        answer = press(visit(ada), "run-case", **given)
        assert (answer.status_code, sentence in answer.text) == (status, True), answer.text
        assert "def solve" in answer.text
        if "size_n" in fields:
            assert f'name="size-n" value="{fields["size_n"]}"' in answer.text

    def test_the_api_takes_the_same(self, call: Visit, ada: User) -> None:
        client = call(ada)
        case = {"name": "basic", "sizes": {"n": 6}, "inputs": {"a": [1, 2, 3, 4, 5, "nan"]}}
        assert client.post(f"{API}/runs", json=WANTED | {"case": case}).status_code == 201
        refused(client.post(f"{API}/runs", json=WANTED | {"case": case | {"name": "no"}}), 400, "bad_request")
        refused(client.post(f"{API}/runs", json=WANTED | {"case": case | {"version": 999}}), 409, "conflict")
        assert client.post(f"{API}/runs", json=WANTED | {"case": case | {"name": 5}}).status_code == 400
        assert client.post(f"{API}/submissions", json=WANTED | {"case": case}).status_code == 400

    def test_its_panel(self, visit: Visit, call: Visit, platform: Platform, ada: User) -> None:
        """The case, prints by block and thread, and the change since its last run."""
        views = []
        for value in ("1.0", "2.0"):
            view = started(platform, ada, case=OwnCase(name="basic", sizes={"n": 2}))
            builders.finish(platform, builders.take(platform), self.report(value))
            views.append(view)
        panel = shown(visit(ada), views[1])
        assert "with your own n" in panel
        assert "The case passed." in panel
        assert '<details data-block="1,2" open> <summary>Block 1,2' in panel
        assert '<code class="said-by">&lt;b&gt;i = 5</code>' in panel
        assert "They printed 1,234 more times; only the first prints are kept." in panel
        assert f'href="/submissions/{views[0].id}"' in panel
        assert "It found 2 errors." in panel
        assert "Line 3: Invalid write" in panel
        assert "out: 1 of the first 2 elements changed; the first is out[1], 1.0 then and 2.0 now." in panel
        assert 'id="changes"' not in shown(visit(ada), views[0])
        found = call(ada).get(f"{API}/runs/{views[1].id}/changes").json
        assert (found["run"], found["outputs"][0]["now"]) == (views[0].id, "2.0")
        refused(call(ada).get(f"{API}/runs/{views[0].id}/changes"), 404, "not_found")

    def report(self, value: str) -> Report:
        record = OutputRecord(
            argument="out", shape=[2], sha256=value, head=["0.0", value], parts=["a", value], part_elements=1
        )
        own = OwnRun(
            case="basic",
            sizes={"n": 2},
            inputs={"a": "normal"},
            own=["n"],
            seed=1,
            inputs_sha256="x",
            outputs=[record],
        )
        case = CaseReport(
            name="basic",
            category="basic",
            verdict=CaseVerdict.ACCEPTED,
            sizes={"n": 2},
            prints=[ThreadPrints(block=(1, 2, 0), thread=(5, 0, 0), text="<b>i = 5\n")],
            prints_left_out=1234,
        )
        tool = CardToolRun(
            tool=CardTool.MEMCHECK,
            errors=2,
            findings=[CardFinding(text="Invalid write", details=["at <i>"], line=3, times=2)],
        )
        return public(builders.accepted()).model_copy(update={"cases": [case], "own": own, "card_tool": tool})
