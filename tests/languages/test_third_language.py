"""A language added to the table works everywhere: challenge, judge, queue, API, pages and commands. Code that
compares a language with a particular one fails here.
"""

from __future__ import annotations

import copy
import json
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

from grader.authoring.candidates import mutant_files, subjects
from grader.authoring.scaffold.draft import Draft
from grader.authoring.scaffold.folder import write_challenge
from grader.authoring.specs import text_checks
from grader.challenge.catalogue import Catalogue
from grader.challenge.signature import declaration, starter
from grader.challenge.source import language_of
from grader.cli.options import syntax_error
from grader.device_kinds import languages_of
from grader.errors import LanguageNotServed, UnknownLanguage
from grader.judge.at_home import judge_at_home
from grader.judge.launch import submission_spec
from grader.languages import Language, usual
from grader.records import claims
from grader.records.engine import writing
from grader.records.models import utcnow
from grader.sandbox.local_box import LocalBoxes
from grader.schemas.report import Report, Verdict
from grader.schemas.submission import State, SubmissionView, WaitReason
from grader.service.accounts.accounts import User
from grader.service.challenges import catalogue
from grader.service.platform import Platform
from grader.service.submissions import diagnostics
from grader.service.submissions.submissions import get_submission
from grader.wakeups import first_queue
from grader.web.pages import code, markdown
from tests.cli.conftest import Cli
from tests.cli.reports import accepted, view
from tests.cli.stub import Stub, done
from tests.judge.kernels import RIGHT, with_solve
from tests.judge.test_hidden_libraries import WithGpu
from tests.languages.conftest import SLUG
from tests.languages.rows import PEBBLE, SLATE, Chisel
from tests.web import builders
from tests.web.conftest import Visit, csrf
from tests.web.refusals import API

#: The product's and the made-up ones, in the table's order.
NAMES = [*(language.value for language in Language), PEBBLE.value, SLATE.value]
WRONG = with_solve("    out.zero_()")
FAILING = with_solve("    raise ValueError('no pebbles')")


class TestTable:
    def test_a_row_equals_its_name(self) -> None:
        assert PEBBLE == "pebble"
        assert Language.named("pebble") is PEBBLE
        assert [*Language][-2:] == [PEBBLE, SLATE]
        assert json.dumps({"language": PEBBLE}) == '{"language": "pebble"}'

    def test_copies_are_the_row_itself(self) -> None:
        assert copy.deepcopy(PEBBLE) is PEBBLE
        assert pickle.loads(pickle.dumps(PEBBLE)) is PEBBLE

    def test_an_unknown_name_is_refused(self) -> None:
        with pytest.raises(ValueError, match="There is no language 'perl'"):
            Language.named("perl")

    def test_rows_cannot_be_changed(self) -> None:
        with pytest.raises(AttributeError):
            PEBBLE.display_name = "Gravel"  # type: ignore[misc]

    def test_every_row_fits_its_column(self) -> None:
        assert all(len(language.value) <= 16 and language.suffixes for language in Language)
        endings = [ending for language in Language for ending in language.suffixes]
        assert len(endings) == len(set(endings))


class TestChallenge:
    @pytest.mark.parametrize("name", ["mine.peb", "mine.PEB", "mine.pebble"])
    def test_the_file_suffix_decides_the_language(self, name: str) -> None:
        assert language_of(name, None) is PEBBLE

    def test_refusals_list_the_language(self) -> None:
        with pytest.raises(UnknownLanguage) as refused:
            language_of("mine.pl", "perl")
        assert refused.value.hint == f"Languages: {', '.join(NAMES)}."
        with pytest.raises(UnknownLanguage) as refused:
            language_of("mine.pl", None)
        assert refused.value.hint.endswith(" or .peb or .slt, or name the language.")

    def test_starter_and_declaration_come_from_the_row(self, catalogue: Catalogue) -> None:
        manifest = catalogue.load(SLUG).manifest
        assert starter(manifest, PEBBLE) == (
            '"""Pebbles for Twice."""\n\n\ndef solve(x, out, n):\n'
            "    # x    input   float32 [n]\n    # out  output  float32 [n]\n    # n    size    int64\n    pass\n"
        )
        assert declaration(manifest, SLATE) == "solve(const float* x, float* out, int64_t n)"

    def test_a_committed_starter_comes_first(self, catalogue: Catalogue, root: Path) -> None:
        (root / "challenges" / SLUG / "starter.peb").write_text("# begin here\n")
        assert catalogue.load(SLUG).starter(PEBBLE) == "# begin here\n"
        checks = {check.name: check for check in text_checks(catalogue.load(SLUG))}
        assert "starter.peb does not fit the signature" in str(checks["starters"])

    def test_syntax_is_checked_for_python_only(self) -> None:
        assert "line 1" in syntax_error("def", PEBBLE)
        assert syntax_error("def", SLATE) == ""

    def test_solutions_and_mutants_are_candidates(self, catalogue: Catalogue, root: Path) -> None:
        staff = root / "reference" / SLUG / "staff"
        (staff / "solution.peb").write_text(RIGHT)
        (staff / "mutants").mkdir()
        (staff / "mutants" / "zero.peb").write_text('"""Mistake: zeros."""\n' + WRONG)
        (staff / "mutants" / "flat.slt").write_text("# Mistake: flat.\n")
        (staff / "mutants" / "mute.slt").write_text("flat\n")
        challenge = catalogue.load(SLUG)
        assert [path.name for path in mutant_files(challenge)] == ["flat.slt", "mute.slt", "zero.peb"]
        assert {(subject.name, subject.language) for subject in subjects(challenge, (PEBBLE,))} == {
            ("solution.peb", PEBBLE),
            ("zero.peb", PEBBLE),
        }
        (check,) = [check for check in text_checks(challenge) if check.name == "mutant_files"]
        assert "mute.slt does not begin" in str(check)
        assert "zero.peb" not in str(check)
        assert "flat.slt" not in str(check)

    def test_a_new_challenge_accepts_the_language(self, catalogue: Catalogue) -> None:
        track = catalogue.load(SLUG).manifest.track
        seen, kept = write_challenge(catalogue, Draft("thrice", "Thrice", track))
        assert (seen / "starter.peb").read_text().startswith('"""Pebbles for Thrice."""')
        assert (kept / "staff" / "solution.py").exists()
        assert set(catalogue.load("thrice").manifest.languages) == set(usual())


class TestJudge:
    def test_a_right_source_is_accepted_and_timed(self, catalogue: Catalogue) -> None:
        report = judge_at_home(catalogue.load(SLUG), RIGHT, PEBBLE, LocalBoxes())
        assert (report.verdict, report.language) == (Verdict.ACCEPTED, PEBBLE)
        assert report.workloads
        again = Report.model_validate_json(report.model_dump_json())
        assert again.language is PEBBLE

    def test_torchs_own_kernels_are_named(self, catalogue: Catalogue) -> None:
        report = judge_at_home(catalogue.load(SLUG), with_solve("    out.copy_(2 * x)"), PEBBLE, LocalBoxes())
        assert report.verdict is Verdict.ACCEPTED
        assert report.library_ops

    @pytest.mark.parametrize(("language", "shown"), [(PEBBLE, True), (SLATE, False)])
    def test_libraries_are_hidden_if_the_language_has_no_torch(self, language: Language, shown: bool) -> None:
        assert submission_spec(WithGpu(), language, 1 << 30).compute_libraries is shown

    def test_an_error_names_its_line(self, catalogue: Catalogue) -> None:
        report = judge_at_home(catalogue.load(SLUG), FAILING, PEBBLE, LocalBoxes(), timing=False)
        assert report.verdict is Verdict.RUNTIME_ERROR
        assert "no pebbles" in diagnostics.read(report, FAILING)[0].message

    def test_a_compiled_language_uses_its_compiler(self, catalogue: Catalogue, chisel: Chisel) -> None:
        report = judge_at_home(catalogue.load(SLUG), "rock", SLATE, LocalBoxes(), timing=False)
        assert (report.verdict, report.language) == (Verdict.COMPILE_ERROR, SLATE)
        assert report.detail == "solution.slt: error: too hard"
        assert [request.source for request in chisel.asked] == ["rock"]


class TestQueue:
    def test_the_first_queue_follows_the_row(self) -> None:
        assert first_queue("cpu", PEBBLE) == "run:cpu"
        assert first_queue("h200", SLATE) == "compile"

    def test_devices_list_the_language(self, platform: Platform, ada: User) -> None:
        assert PEBBLE in languages_of("cpu")
        assert PEBBLE not in languages_of("h200")

    def test_a_submission_waits_for_its_compiler_or_worker(self, platform: Platform, ada: User) -> None:
        """Nothing is compiled or judged here; a compiled language waits for its compiler first."""
        for source, name, reason in (
            ("rock", "a.slt", WaitReason.NO_COMPILER),
            (RIGHT, "a.peb", WaitReason.NO_WORKER),
        ):
            sent = builders.hand_in(platform, ada, challenge=SLUG, source=source, filename=name)
            waits = get_submission(platform, ada, sent.id).waits_for
            assert waits is not None
            assert waits.reason is reason

    def test_compilers_and_workers_claim_by_the_row(self, platform: Platform, ada: User) -> None:
        """A compiled language runs only after compiling; an interpreted one is never compiled."""
        slate = builders.hand_in(platform, ada, challenge=SLUG, source="rock", filename="a.slt").id
        pebble = builders.hand_in(platform, ada, challenge=SLUG, source=RIGHT, filename="a.peb").id
        with writing(platform.sessions) as session:
            held = claims.claim(
                session, claims.ClaimRequest("cpu", languages_of("cpu"), "w", utcnow(), 60.0)
            ).held
            assert held is not None
            assert (held.public_id, held.language) == (pebble, PEBBLE)
            assert (
                claims.claim(
                    session, claims.ClaimRequest("cpu", languages_of("cpu"), "w", utcnow(), 60.0)
                ).held
                is None
            )
            compiled = claims.claim_to_compile(session, ["cpu"], "c", utcnow(), 60.0)
            assert compiled is not None
            assert (compiled.public_id, compiled.language) == (slate, SLATE)


def _judged(platform: Platform, report: Report) -> None:
    with writing(platform.sessions) as session:
        held = claims.claim(
            session, claims.ClaimRequest("cpu", languages_of("cpu"), "w", utcnow(), 60.0)
        ).held
    assert held is not None
    builders.finish(platform, held, report)


def _accepted() -> Report:
    return builders.accepted(challenge=SLUG, language=PEBBLE)


class TestApi:
    def test_a_submission_gets_to_the_board(self, call: Visit, platform: Platform, ada: User) -> None:
        client = call(ada)
        body = {"challenge": SLUG, "source": RIGHT, "filename": "mine.peb"}
        answer = client.post(f"{API}/submissions", json=body)
        assert answer.status_code == 201, answer.text
        sent = answer.json
        assert (sent["language"], sent["device"]) == ("pebble", "cpu")
        _judged(platform, _accepted())
        got = client.get(f"{API}/submissions/{sent['id']}").json
        assert (got["language"], got["state"]) == ("pebble", State.DONE)
        assert client.get(f"{API}/submissions/{sent['id']}/report").json["language"] == "pebble"
        assert client.get(f"{API}/submissions/{sent['id']}/source").json["language"] == "pebble"
        board = client.get(f"{API}/leaderboards/{SLUG}?language=pebble").json
        assert [entry["language"] for entry in board["entries"]] == ["pebble"]
        assert client.get(f"{API}/leaderboards/{SLUG}?language=triton").json["entries"] == []

    def test_a_device_that_cannot_run_the_language_is_refused(self, call: Visit, ada: User) -> None:
        body = {"challenge": SLUG, "source": "rock", "filename": "a", "language": "pebble", "device": "h200"}
        assert call(ada).post(f"{API}/submissions", json=body).status_code == 400

    def test_drafts_are_kept_by_language(self, call: Visit, ada: User) -> None:
        where = f"{API}/drafts/{SLUG}/pebble"
        assert call(ada).put(where, json={"source": "# mine\n"}).status_code in (200, 201)
        assert call(ada).get(where).json["language"] == "pebble"

    def test_the_api_lists_the_language_of_a_challenge(self, call: Visit) -> None:
        found = call(None).get(f"{API}/challenges/{SLUG}").json
        assert found["languages"] == ["cuda", "triton", "pebble", "slate"]
        assert found["served"] == ["triton", "pebble", "slate"]
        assert found["starters"]["pebble"].startswith('"""Pebbles for Twice."""')

    def test_the_api_description_lists_the_language(self) -> None:
        schema = SubmissionView.model_json_schema()
        assert schema["properties"]["language"] == {"$ref": "#/$defs/Language"}
        assert schema["$defs"]["Language"]["enum"] == NAMES

    def test_the_api_refuses_an_unknown_language(self, call: Visit, ada: User) -> None:
        body = {"challenge": SLUG, "source": RIGHT, "filename": "a.py", "language": "perl"}
        answer = call(ada).post(f"{API}/submissions", json=body)
        assert answer.status_code == 400
        assert "pebble" in answer.text


class TestPages:
    def test_the_challenge_page_offers_the_language(self, visit: Visit, ada: User) -> None:
        page = visit(ada).get(f"/challenges/{SLUG}").text
        assert re.search(
            r'<input type="radio" name="language" value="pebble"[^>]*><span>Pebble\+\+</span>', page
        )
        assert re.search(r'<textarea name="source-pebble" [^>]*data-mode="python"', page)
        choices = re.findall(r'name="language" value="(\w+)"', page)
        assert choices == re.findall(r'<div class="pane" data-language="(\w+)"', page)
        assert choices == ["cuda", "triton", "pebble", "slate"]
        assert "Pebbles for Twice." in page
        assert '<h3 class="label">Pebble++</h3>' in page

    def test_the_page_submits_the_language(self, visit: Visit, platform: Platform, ada: User) -> None:
        client = visit(ada)
        form = {
            "csrf_token": csrf(client, f"/challenges/{SLUG}"),
            "language": "pebble",
            "source-pebble": RIGHT,
            "action": "submit",
        }
        answer = client.post(f"/challenges/{SLUG}", data=form)
        assert answer.status_code == 303, answer.text
        _judged(platform, _accepted())
        page = client.get(answer.location).text
        assert '<span class="language pebble">Pebble++</span>' in page
        assert 'id="source" class="code numbered bounded" data-mode="python"' in page
        assert "twice.peb" in page

    @pytest.mark.parametrize(
        "path",
        ["/submissions", "/users/ada", f"/leaderboards/{SLUG}", f"/leaderboards/{SLUG}?language=pebble", "/"],
    )
    def test_lists_show_the_languages_name(
        self, visit: Visit, platform: Platform, ada: User, path: str
    ) -> None:
        builders.hand_in(platform, ada, challenge=SLUG, source=RIGHT, filename="a.peb")
        _judged(platform, _accepted())
        page = visit(ada).get(path)
        assert page.status_code == 200
        chips = re.findall(r'class="language pebble">(.*?)</span>', page.text)
        assert chips.count("Pebble++") == len(chips)
        assert chips or "<td>Pebble++</td>" in page.text or ">Pebble++</option>" in page.text

    def test_the_page_shows_the_judging_versions(self, platform: Platform, ada: User) -> None:
        builders.hand_in(platform, ada, challenge=SLUG, source=RIGHT, filename="a.peb")
        _judged(
            platform, builders.accepted(challenge=SLUG, language=PEBBLE, environment={"box_torch": "9.9"})
        )
        assert catalogue.get_challenge(platform, SLUG).judged_with == {"torch": "9.9"}

    def test_source_is_highlighted(self) -> None:
        assert '<span class="k">pass</span>' in code.inline("pass", "pebble")
        assert '<span class="k">pass</span>' in markdown.render("```gravel\npass\n```")


class TestCommands:
    def test_submit_sends_the_language(self, server: Stub, cli: Cli, home: Path) -> None:
        done(server, accepted())
        (home / "mine.peb").write_text(RIGHT)
        assert cli("submit", "mine.peb", "-c", SLUG).code == 0
        assert json.loads(server.asked[0].body)["language"] == "pebble"

    def test_submit_refuses_a_syntax_error(self, server: Stub, cli: Cli, home: Path) -> None:
        (home / "mine.peb").write_text("def\n")
        assert cli("submit", "mine.peb", "-c", SLUG).code != 0
        assert not server.asked

    def test_diff_finds_the_latest_of_the_language(self, server: Stub, cli: Cli, home: Path) -> None:
        """A file is compared with the latest submission in its language."""
        for name, language in (("newer", "triton"), ("older", "pebble")):
            sent = view(State.QUEUED, id=name, language=language).model_dump(mode="json")
            told = {"id": name, "language": language, "filename": name, "source": f"# {name}\n"}
            server.answer(f"GET /submissions/{name}", sent)
            server.answer(f"GET /submissions/{name}/source", told)
        listed = [
            json.loads(server.answers[f"GET /api/v1/submissions/{name}"][1]) for name in ("newer", "older")
        ]
        server.answer("GET /submissions", {"submissions": listed, "total": 2})
        (home / "mine.peb").write_text("# mine\n")
        assert "-# older" in cli("diff", "mine.peb", "-c", "vector_add").out
        assert "There is no file 'gone.peb'" in cli("diff", "gone.peb", "older").err

    def test_init_chooses_a_language_that_runs_here(
        self, cli: Cli, home: Path, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GRADER_CHALLENGES", str(root))
        file = root / "challenges" / SLUG / "challenge.toml"
        file.write_text(re.sub("languages = .*", 'languages = ["cuda", "pebble"]', file.read_text()))
        assert cli("init", SLUG, "--local").code == 0
        assert (home / "twice.peb").exists()

    def test_init_and_test_work(
        self, cli: Cli, home: Path, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GRADER_CHALLENGES", str(root))
        assert cli("init", SLUG, "--local", "--language", "pebble").code == 0
        file = home / "twice.peb"
        assert "Pebbles for Twice." in file.read_text()
        file.write_text(RIGHT)
        ran = cli("test", "twice.peb", "-c", SLUG, "--no-timing", "--json")
        assert (ran.code, json.loads(ran.out)["language"]) == (0, "pebble")
        file.write_text("def\n")
        assert json.loads(cli("test", "twice.peb", "-c", SLUG, "--json").out)["language"] == "pebble"
        assert "pebble" in cli("show", SLUG, "--local").out

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("submit", "--help"), "|".join(NAMES)),
            (("submit", "--help"), ".peb is Pebble++"),
            (("config", "set", "language", "perl"), "pebble"),
            (("challenge", "check", "--help"), "|".join(NAMES)),
        ],
    )
    def test_help_and_settings_list_the_language(self, home: Path, words: tuple[str, ...], said: str) -> None:
        """In a separate process: help is assembled when the commands are imported."""
        program = (
            f"from tests.languages import rows; rows.add()\n"
            f"from grader.cli.main import main; raise SystemExit(main({list(words)!r}))"
        )
        ran = subprocess.run(
            [sys.executable, "-c", program],
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=False,
        )
        assert said in re.sub(r"\s+", " ", ran.stdout + ran.stderr)


def test_a_language_without_a_device_is_refused(platform: Platform, ada: User) -> None:
    with pytest.raises(LanguageNotServed):
        builders.hand_in(platform, ada, challenge=SLUG, source="rock", filename="a.cu")
