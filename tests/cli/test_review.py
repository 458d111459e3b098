"""`void`, `regrade`, `inbox`, `roster`, `comment` and `feedback requests` against a web: text, JSON, exit codes."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from werkzeug.serving import make_server

from grader import limits
from grader.challenge import bundle
from grader.cli.commands import results
from grader.records import workers
from grader.records.engine import clock, writing
from grader.schemas.account import Role
from grader.schemas.course import CourseBody
from grader.schemas.hardware import ClockEvent, GpuReading
from grader.service.accounts import accounts, tokens
from grader.service.accounts.accounts import User
from grader.service.courses import courses
from grader.service.platform import Platform, open_platform
from grader.web.app import create_app
from tests.cli.conftest import Cli, Ran
from tests.service.courses.scenes import assign, enrol
from tests.service.examining import examine
from tests.web import builders

Run = Callable[..., Ran]


@dataclass(frozen=True)
class Site:
    platform: Platform
    run: Run
    teacher: User
    ada: User
    bob: User

    def json(self, who: User, *args: str) -> Any:
        ran = self.run(who, *args, "--json")
        assert ran.code == 0, ran.err
        return json.loads(ran.out)


@pytest.fixture
def site(home: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A course ``gpu`` of ada and bob, whose assignment ``week1`` has one challenge."""
    platform = open_platform(builders.make_settings(home / "platform"))
    teacher = accounts.create_user(platform, "teacher", builders.PASSWORD, Role.STAFF)
    ada, bob = (accounts.create_user(platform, name, builders.PASSWORD) for name in ("ada", "bob"))
    courses.create_course(platform, teacher, CourseBody(slug="gpu", name="GPU", time_zone="UTC"))
    enrol(platform, teacher, ada, bob)
    assign(platform, teacher, parts=[{"challenge": builders.SLUG}])
    given = {user.name: tokens.issue_token(platform, user).token for user in (teacher, ada, bob)}
    server = make_server("127.0.0.1", 0, create_app(platform), threaded=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    monkeypatch.setenv("GRADER_SERVER", f"http://127.0.0.1:{server.server_port}")

    def run(who: User, *args: str) -> Ran:
        monkeypatch.setenv("GRADER_TOKEN", given[who.name])
        ran = cli(*args)
        # The web logs in this process.
        own = [line for line in ran.err.splitlines(keepends=True) if not line.startswith('{"')]
        return Ran(ran.code, ran.out, "".join(own))

    yield Site(platform, run, teacher, ada, bob)
    server.shutdown()
    thread.join()
    server.server_close()
    platform.close()


def refused(ran: Ran, code: int, words: str) -> None:
    assert (ran.code, ran.out) == (code, "")
    assert words in " ".join(ran.err.split())


def test_a_result_is_voided_and_restored(site: Site) -> None:
    done = builders.judged(site.platform, site.ada, builders.accepted()).id
    waits = builders.hand_in(site.platform, site.bob).id
    told = site.run(site.teacher, "void", done, "--reason", "A copy.")
    assert (told.code, told.out, told.err) == (0, "", f"The result of {done} by ada is void now.\n")
    assert site.json(site.teacher, "void", done, "--undo")["voided"] is None
    again = site.json(site.teacher, "void", done, "--reason", "A  copy.")
    assert again["voided"]["reason"] == "A copy."
    for who, args, code, words in (
        (site.teacher, [done], 2, "--reason WHY"),
        (site.teacher, [done, "--undo", "--reason", "x"], 2, "--reason WHY"),
        (site.teacher, ["nothing", "--reason", "x"], 2, "no submission 'nothing'"),
        (site.teacher, [waits, "--reason", "x"], 2, "no result"),
        (site.teacher, [waits, "--undo"], 2, "not void"),
        (site.ada, [done, "--undo"], 3, "submissions.void"),
        (site.bob, [done, "--undo"], 2, "no submission"),
    ):
        refused(site.run(who, "void", *args), code, words)


def test_announcements_notices_and_profile_readers_are_managed(site: Site) -> None:
    site.run(site.teacher, "announcement", "make", "gpu", "Room 2", "--text", "Up", "--assignment", "week1")
    told = site.json(site.teacher, "announcement", "make", "gpu", "Room 3", "--edit", "1")["announcements"]
    assert [
        (announcement["title"], announcement["text"], announcement["assignment"]) for announcement in told
    ] == [("Room 3", "Up", "week1")]
    refused(site.run(site.teacher, "announcement", "make", "gpu", "x", "--edit", "9"), 2, "no announcement 9")
    shown = site.run(site.ada, "notice", "list")
    assert ("GPU: Room 2" in shown.out, "1 unread." in shown.err) == (True, True)
    assert site.json(site.ada, "notice", "read")["unread"] == 0
    refused(site.run(site.ada, "notice", "choose", "--no-mail"), 2, "Which kind?")
    site.run(site.ada, "notice", "choose", "announcement", "--no-mail")
    chosen = site.json(site.ada, "notice", "choose", "announcement", "--no-site")["choices"]
    assert [choice for choice in chosen if not (choice["site"] and choice["mail"])] == [
        {"kind": "announcement", "site": False, "mail": False}
    ]
    site.run(site.teacher, "announcement", "make", "gpu", "Room 4")
    assert site.json(site.ada, "notice", "list")["unread"] == 0
    assert site.json(site.ada, "account", "readers", "--profile", "course")["profile"] == "course"
    site.run(site.ada, "account", "readers", "--kernels", "course")
    readers = site.run(site.ada, "account", "readers").out
    assert "profile: course, calendar: public, kernels: course" in readers


def test_freezing_a_board_keeps_its_audience(site: Site) -> None:
    board = ("challenge", "board", builders.SLUG)
    site.run(site.teacher, *board, "--show", "hidden")
    frozen = site.json(site.teacher, *board, "--freeze", "2026-01-31T18:00+00:00")
    assert (frozen["board"], frozen["frozen_at"][:16]) == ("hidden", "2026-01-31T18:00")
    shown = site.json(site.teacher, *board, "--show", "course")
    assert (shown["board"], shown["frozen_at"]) == ("course", frozen["frozen_at"])
    assert site.json(site.teacher, *board, "--freeze", "none")["frozen_at"] is None
    refused(site.run(site.ada, *board, "--show", "public"), 3, "staff")


def test_a_regrade_is_ordered_compared_and_published(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "_POLL_S", 0.05)
    platform, teacher = site.platform, site.teacher
    done = builders.judged(platform, site.ada, builders.accepted()).id
    builders.judged(platform, site.bob, builders.accepted())
    ordered = site.run(teacher, "regrade", "start", "--submission", done, "--reason", "A card was slow.")
    assert (ordered.code, f"Regrade 1 of submission {done}: 0 unchanged" in ordered.err) == (0, True)
    same = site.json(teacher, "regrade", "start", "--submission", done, "--reason", "A card was slow.")
    assert (same["number"], same["summary"]["waiting"]) == (1, 1)
    refused(site.run(teacher, "regrade", "publish", "1"), 2, "not judged yet")
    refused(
        site.run(teacher, "regrade", "start", "--course", "gpu", "--assignment", "week1", "--reason", "x"),
        2,
        "Regrade 1 is open",
    )
    builders.finish(platform, builders.take(platform), builders.accepted(time_us=400.0, speedup=2.66))
    lines = site.run(teacher, "regrade", "show", "1", "--watch", "--json").out.splitlines()
    assert [json.loads(line)["regrade"]["summary"]["up"] for line in lines] == [1, 1]
    shown = site.run(teacher, "regrade", "show", "1")
    assert done in shown.out
    assert "0 unchanged, 1 up, 0 down." in shown.out
    published = site.run(teacher, "regrade", "publish", "1")
    assert (published.code, "is published: 0 unchanged, 1 up" in published.err) == (0, True)
    refused(site.run(teacher, "regrade", "publish", "1"), 2, "already published")

    monkeypatch.setattr(limits, "REGRADE_UNCONFIRMED", 1)
    whole = ("regrade", "start", "--course", "gpu", "--assignment", "week1", "--reason", "A case was wrong.")
    refused(site.run(teacher, *whole), 2, "--confirm week1")
    assert site.json(teacher, *whole, "--confirm", "week1")["summary"]["waiting"] == 2
    assert site.json(teacher, "regrade", "discard", "2")["state"] == "discarded"
    student = (
        "regrade",
        "start",
        "--course",
        "gpu",
        "--student",
        "ada",
        "--assignment",
        "week1",
        "--reason",
        "x",
    )
    assert site.json(teacher, *student)["what"] == "ada in gpu/week1"
    listed = site.json(teacher, "regrade", "list", "--course", "gpu")["regrades"]
    assert [(regrade["number"], regrade["state"]) for regrade in listed] == [
        (3, "open"),
        (2, "discarded"),
        (1, "published"),
    ]
    assert "A case was wrong." in site.run(teacher, "regrade", "list").out

    for who, args, code, words in (
        (teacher, ["show", "9"], 2, "no regrade 9"),
        (teacher, ["start", "--submission", done, "--reason", " "], 2, "reason"),
        (teacher, ["start", "--submission", "nothing", "--reason", "x"], 2, "no submission"),
        (teacher, ["start", "--course", "gpu", "--assignment", "week9", "--reason", "x"], 2, "week9"),
        (
            teacher,
            ["start", "--course", "gpu", "--student", "teacher", "--reason", "x"],
            2,
            "not a student in course gpu",
        ),
        (teacher, ["start", "--challenge", "nothing", "--reason", "x"], 2, "nothing to judge again"),
        (site.ada, ["list"], 3, "submissions.regrade"),
        (site.ada, ["start", "--submission", done, "--reason", "x"], 3, "submissions.regrade"),
        (site.ada, ["publish", "3"], 3, "submissions.regrade"),
    ):
        refused(site.run(who, "regrade", *args), code, words)


def test_inbox_items_are_listed_assigned_and_decided(site: Site) -> None:
    teacher = site.teacher
    done = builders.judged(site.platform, site.ada, builders.on_gpu()).id
    kernel, outside = f"{done}:library_kernel", f"{done}:work_outside_gate"
    found = site.json(teacher, "inbox", "list", "--course", "gpu")
    assert {item["key"] for item in found["items"]} == {kernel, outside}
    assert site.json(teacher, "inbox", "assign", kernel, "--to", "teacher") == {"changed": 1, "open": 2}
    shown = site.run(teacher, "inbox", "list", "--reviewer", "teacher")
    assert (kernel in shown.out, outside in shown.out) == (True, False)
    assert "2 items are open in all." in shown.err
    decided = site.run(teacher, "inbox", "decide", outside, "--outcome", "fine")
    assert (decided.code, "Changed 1; 1 are open." in decided.err) == (0, True)
    decide = ("inbox", "decide", kernel, "--outcome", "void")
    refused(site.run(teacher, *decide), 2, "Give a reason")
    assert site.json(teacher, *decide, "--reason", "It calls cuBLAS.")["open"] == 0
    assert "It calls cuBLAS." in site.run(teacher, "inbox", "list", "--outcome", "void").out
    for who, args, code, words in (
        (teacher, ["decide", kernel, "--outcome", "fine"], 2, "already decided: void"),
        (teacher, ["decide", f"{done}:similar", "--outcome", "fine"], 2, "similar"),
        (teacher, ["assign", kernel, "--to", "ada"], 2, "may not decide"),
        (teacher, ["list", "--outcome", "odd"], 2, "outcome"),
        (site.ada, ["list"], 3, "reviews.decide"),
        (site.ada, ["decide", kernel, "--outcome", "fine"], 3, "reviews.decide"),
    ):
        refused(site.run(who, "inbox", *args), code, words)


def test_a_roster_is_imported_and_changed(site: Site, home: Path) -> None:
    table = home / "roster.csv"
    table.write_text("account\nada\nbob\n")
    removed = site.run(site.teacher, "roster", "change", "gpu", "ada", "--drop")
    assert "removed" in removed.out
    assert "grader roster change gpu NAME --enrol" in removed.err
    again = site.run(site.teacher, "roster", "import", "gpu", str(table), "--apply")
    assert "--let-back-in" in again.err
    code = site.json(site.teacher, "roster", "code", "gpu")["code"]
    refused(site.run(site.ada, "course", "join", code), 3, "The staff of GPU removed you from this course.")
    site.run(site.teacher, "roster", "import", "gpu", str(table), "--apply", "--let-back-in")
    assert site.json(site.teacher, "roster", "show", "gpu")["removed"] == []


def test_comments_are_drafted_sent_and_read(site: Site) -> None:
    done = builders.judged(site.platform, site.ada, builders.accepted()).id
    drafted = site.json(site.teacher, "comment", done, "Why a copy?", "--lines", "5", "--draft")
    (thread,) = drafted["threads"]
    number = str(thread["number"])
    assert site.json(site.ada, "comment", done)["threads"] == []
    site.json(site.teacher, "comment", done, "--send", number)
    read = site.run(site.ada, "comment", done)
    assert "line 5" in read.out
    assert "Why a copy?" in read.out
    said = site.json(site.ada, "comment", done, "Torch does it.", "--reply", number)
    assert [comment["text"] for comment in said["threads"][0]["comments"]] == [
        "Why a copy?",
        "Torch does it.",
    ]
    resolved = site.run(site.teacher, "comment", done, "--resolve", number)
    assert "resolved by teacher" in resolved.out
    for who, args, code, words in (
        (site.ada, [done, ""], 2, "The comment is empty"),
        (site.ada, [done, "x", "--lines", "five"], 2, "is not a range of lines"),
        (site.teacher, [done, "x", "--lines", "900"], 2, "line"),
        (site.teacher, [done, "--send", number, "--resolve", number], 2, "These options exclude each other"),
        (site.teacher, [done, "x", "--reply", "99"], 2, "99"),
        (site.ada, [done, "x", "--edit", number], 3, ""),
        (site.bob, [done, "x"], 2, "no submission"),
    ):
        refused(site.run(who, "comment", *args), code, words)


def test_a_regrade_request_is_asked_and_answered(site: Site) -> None:
    done = builders.judged(site.platform, site.ada, builders.accepted()).id
    ask = ("feedback", "ask", "gpu", "week1", builders.SLUG, "The baseline was slow.", "--submission", done)
    for most in (0, 1):
        if most:
            refused(site.run(site.ada, *ask), 3, "You have used all")
        wanted = ("feedback", "set", "gpu", "week1", "--regrades", str(most))
        assert site.json(site.teacher, *wanted)["regrade_limit"] == most
    (request,) = site.json(site.ada, *ask)["requests"]
    assert (request["state"], request["submission"]) == ("open", done)
    number = str(request["number"])
    refused(site.run(site.ada, *ask), 3, "You have used all")
    answer = ("feedback", "requests", "gpu", "--grant", number)
    refused(site.run(site.ada, *answer, "--reason", "x"), 3, "regrades.answer")
    refused(site.run(site.teacher, *answer), 2, "reason")
    granted = site.json(site.teacher, *answer, "--reason", "It was.")
    assert [request["state"] for request in granted["requests"]] == ["granted"]
    told = site.run(site.ada, "feedback", "requests", "gpu")
    assert "It was." in told.out
    for who, args, code in (
        (site.ada, ["--withdraw", number], 2),
        (site.teacher, ["--decline", "99", "--reason", "x"], 2),
    ):
        refused(site.run(who, "feedback", "requests", "gpu", *args), code, "")


def test_failed_submissions_are_retried_and_the_audit_log_shown(site: Site) -> None:
    failed = builders.hand_in(site.platform, site.ada).id
    builders.fail(site.platform, builders.take(site.platform), "the engine is away")
    hot = GpuReading(use=97, temperature_c=84, events=[ClockEvent.THERMAL_SLOWDOWN], slowed=True)
    with writing(site.platform.sessions) as session:
        now = clock(session)
        workers.register(session, "w1", "h100", [], now, "GPU-1", False)
        session.flush()
        workers.beat(session, "w1", now, hot.model_dump(mode="json"))
    shown = site.run(site.teacher, "admin", "operations")
    told = " ".join(shown.out.split())
    assert "slowed: 97 % used, 84 °C, thermal slowdown" in told
    assert f"{failed} ({builders.SLUG} on " in told
    assert "failed: the engine is away" in told
    assert site.run(site.teacher, "admin", "retry").code == 2, "it names none"
    assert site.run(site.ada, "admin", "retry", failed).code == 3
    assert site.run(site.ada, "admin", "audit").code == 3
    assert site.json(site.teacher, "admin", "retry", failed)["submissions"] == [failed]
    log = site.run(site.teacher, "admin", "audit", "--action", "submission.", "--actor", "teacher")
    assert f"/submissions/{failed}" in log.out
    entries = site.json(site.teacher, "admin", "audit", "--limit", "1")["entries"]
    assert [entry["action"] for entry in entries] == ["submission.requeue"]
    assert site.json(site.teacher, "admin", "audit", "--subject", "/courses/nowhere")["entries"] == []


def test_the_challenges_of_a_course(site: Site, home: Path) -> None:
    made = bundle.of_challenge(site.platform.catalogue.load(builders.SLUG))
    ours = {path.replace(f"/{builders.SLUG}/", "/ours/"): data for path, data in made.files.items()}
    (home / "ours.zip").write_bytes(bundle.of_files(ours).packed())
    refused(site.run(site.ada, "course", "catalogue", "gpu"), 3, "catalogue.read")
    sent = site.run(site.teacher, "challenge", "upload", "ours.zip", "--course", "gpu", "--no-wait")
    assert "ours: upload 1" in sent.err
    examine(site.platform)
    assert "published" in site.run(site.teacher, "challenge", "publish", "ours").err
    url = "https://ada:s3cret@git.uni.edu/x.git"
    shown = site.run(site.teacher, "course", "catalogue", "gpu", "--url", url, "--branch", "next").out
    assert "https://git.uni.edu/x.git, branch next" in shown
    assert "ours" in shown
    assert site.json(site.teacher, "course", "catalogue", "gpu", "--sync")["source"]["state"] == "waiting"
    assert "/hooks/catalogue/" in site.run(site.teacher, "course", "catalogue", "gpu", "--hook").out
    assert site.json(site.teacher, "course", "catalogue", "gpu", "--forget")["source"] is None
    refused(site.run(site.teacher, "course", "catalogue", "gpu", "--sync", "--hook"), 2, "exclude each other")


def test_an_upload_from_its_check_to_its_use(site: Site, home: Path) -> None:
    packed = bundle.of_challenge(site.platform.catalogue.load(builders.SLUG)).packed()
    Path("mine.zip").write_bytes(packed)
    refused(site.run(site.ada, "challenge", "upload", "mine.zip", "--no-wait"), 3, "challenge.upload")
    assert site.run(site.teacher, "challenge", "upload", "mine.zip", "--no-wait").code == 0
    one = (builders.SLUG, "1")
    refused(site.run(site.teacher, "challenge", "preview", *one), 2, "examined")
    assert site.json(site.teacher, "challenge", "findings", *one, "--stop")["check"] == "failed"
    refused(site.run(site.teacher, "challenge", "findings", *one, "--stop"), 2, "not being checked")
    Path("spec.md").write_text("# Reworded\n")
    assert site.run(site.teacher, "challenge", "spec", builders.SLUG, "spec.md").code == 0
    examine(site.platform)
    two = (builders.SLUG, "2")
    assert "# Reworded" in site.json(site.teacher, "challenge", "preview", *two)["spec"]
    assert "Reworded" in site.run(site.teacher, "challenge", "preview", *two).out
    found = site.run(site.teacher, "challenge", "findings", *two)
    assert (found.code, "+# Reworded" in found.out) == (0, True)
    assert site.run(site.teacher, "challenge", "archive", *two, "-o", "two.zip").code == 0
    assert bundle.read_archive(Path("two.zip").read_bytes()).slug == builders.SLUG
    assert site.run(site.teacher, "challenge", "use", *two).code == 0
    assert site.platform.catalogue.is_uploaded(builders.SLUG)


def test_an_author_withdraws_an_entry_and_writes_a_note(site: Site, home: Path) -> None:
    done, slug = builders.judged(site.platform, site.ada, builders.accepted()).id, builders.SLUG
    off = site.run(site.ada, "leaderboard", slug, "--withdraw", done)
    assert off.code == 0
    assert f"{done} is off the board.\n" in off.err
    assert "Nobody is on this board yet." in off.err
    assert "off the board since" in site.run(site.ada, "status", done).out
    assert ", off the board" in site.run(site.ada, "history").out
    back = site.json(site.ada, "leaderboard", slug, "--put-back", done)
    assert [entry["submission"] for entry in back["entries"]] == [done]
    kept = site.run(site.ada, "comment", done, "--note", "Tiles of 32.\nMore.")
    assert (kept.code, kept.err) == (0, f"The note on {done} is kept.\n")
    read = site.run(site.ada, "status", done)
    assert ("Your note:" in read.err, "    Tiles of 32.\n    More.\n" in read.out) == (True, True)
    assert "Tiles of 32." in site.run(site.ada, "history").out
    assert "Tiles" not in site.run(site.teacher, "status", done).out
    file = home / "kernels.md"
    wrote = site.run(site.ada, "account", "portfolio", "--to", str(file), "--submission", done)
    assert (wrote.code, wrote.err) == (0, f"Wrote {file} ({file.stat().st_size:,} bytes).\n")
    text = file.read_text(encoding="utf-8")
    assert "> Tiles of 32.\n> More.\n" in text
    assert "- Rank: 1 of 1\n" in text
    listed = site.run(site.ada, "account", "portfolio")
    assert ("1 of 1" in listed.out, "--to portfolio.pdf" in listed.err) == (True, True)
    assert site.json(site.ada, "account", "portfolio")["entries"][0]["submission"] == done
    removed = site.run(site.ada, "comment", done, "--note", "")
    assert removed.err == f"The note on {done} is removed.\n"
    for who, args, code, words in (
        (site.ada, ["leaderboard", "other", "--withdraw", done], 2, f"{done} is for {slug}, not for other."),
        (site.ada, ["leaderboard", slug, "--withdraw", done, "--put-back", done], 2, "exclude each other"),
        (site.teacher, ["leaderboard", slug, "--withdraw", done], 3, "Only its author"),
        (site.bob, ["leaderboard", slug, "--withdraw", done], 2, "no submission"),
        (site.teacher, ["comment", done, "--note", "x"], 3, "Only its author"),
        (site.ada, ["comment", done, "x", "--note", "y"], 2, "--note excludes"),
        (site.ada, ["account", "portfolio", "--to", str(file)], 2, "already exists"),
        (site.ada, ["account", "portfolio", "--to", "kernels.txt"], 2, "neither .pdf nor .md"),
        (site.bob, ["account", "portfolio", "--submission", done], 2, "not an accepted submission of yours"),
    ):
        refused(site.run(who, *args), code, words)
