"""`submit`, `status`, `cancel`, `history` against a stub: exit codes, JSON, requests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader import errors, limits
from grader.challenge import views
from grader.challenge.catalogue import find_catalogue
from grader.cli.commands import submissions
from grader.languages import Language
from grader.schemas.comparison import ComparedKernel, ComparedWorkload, KernelChoice, KernelComparison, Whose
from grader.schemas.report import Verdict
from grader.schemas.side_by_side import Counter, SideBySide
from grader.schemas.standing import Standing
from grader.schemas.submission import State, WaitReason, WaitsFor
from tests.cli.conftest import Cli, narrow
from tests.cli.reports import PAUSED, accepted, view, wrong
from tests.cli.stub import Stub, done

ID = "/submissions/abc123"


def test_submit_prints_only_the_id(server: Stub, cli: Cli, kernel: str) -> None:
    done(server, accepted())
    ran = cli("submit", kernel, "-c", "vector_add", "--device", "cpu")
    assert (ran.code, ran.out) == (0, "abc123\n")
    assert "grader watch abc123" in ran.err
    (asked,) = server.asked
    body = json.loads(asked.body)
    assert body == {
        "challenge": "vector_add",
        "language": "triton",
        "source": "import triton\n",
        "filename": "mine.py",
        "device": "cpu",
        "reuse": False,
    }
    assert len(asked.headers["Idempotency-Key"]) == 32


def test_submit_reports_a_reused_result(server: Stub, cli: Cli, kernel: str) -> None:
    earlier = view(State.DONE, verdict=Verdict.ACCEPTED, reused=True).model_dump(mode="json")
    server.answer("POST /submissions", earlier, 200)
    ran = cli("submit", kernel, "-c", "vector_add", "--reuse")
    assert (ran.code, ran.out) == (0, "abc123\n")
    assert "You submitted the same source at" in ran.err
    assert json.loads(server.asked[0].body)["reuse"] is True
    assert json.loads(cli("submit", kernel, "-c", "vector_add", "--reuse", "--json").out)["reused"] is True


@pytest.mark.parametrize(("remaining", "told"), [(None, False), (6, False), (5, True), (0, True)])
def test_submit_warns_if_few_submissions_are_left(
    server: Stub, cli: Cli, kernel: str, remaining: int | None, told: bool
) -> None:
    queued = view(State.QUEUED, remaining=remaining).model_dump(mode="json")
    server.answer("POST /submissions", queued, 201)
    assert ("more for vector_add for now" in cli("submit", kernel, "-c", "vector_add").err) is told


def test_each_submit_has_another_key(server: Stub, cli: Cli, kernel: str) -> None:
    done(server, accepted())
    for _ in range(2):
        cli("submit", kernel, "-c", "vector_add")
    assert len({asked.headers["Idempotency-Key"] for asked in server.asked}) == 2


def test_a_post_that_breaks_off_is_sent_again_under_its_key(
    server: Stub, cli: Cli, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submissions, "RETRY_PAUSES", (0.01, 0.01))
    done(server, accepted())
    server.hang_ups = 2
    ran = cli("submit", kernel, "-c", "vector_add")
    assert (ran.code, ran.out) == (0, "abc123\n")
    assert ran.err.count("Sending it again") == 2
    assert len({(asked.headers["Idempotency-Key"], asked.body) for asked in server.asked}) == 1
    assert len(server.asked) == 3


def test_a_server_that_stays_away_is_our_failure(
    server: Stub, cli: Cli, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submissions, "RETRY_PAUSES", (0.01, 0.01))
    server.hang_ups = 3
    ran = cli("submit", kernel, "-c", "vector_add")
    assert (ran.code, ran.out) == (errors.EXIT_OUR_FAILURE, "")
    assert "grader history" in ran.err


def test_a_refused_submission_is_not_sent_again(server: Stub, cli: Cli, kernel: str) -> None:
    told = {"error": {"code": "too_many", "message": "Too many wait."}}
    server.answer("POST /submissions", told, 429)
    assert cli("submit", kernel, "-c", "vector_add").code != 0
    assert len(server.asked) == 1


def test_status_prints_the_report(server: Stub, cli: Cli) -> None:
    done(server, wrong())
    ran = cli("status", "abc123")
    assert ran.code == 1
    assert "done" in ran.out
    assert "out[3, 17]" in ran.out
    assert json.loads(cli("status", "abc123", "--json").out)["state"] == "done"


def test_a_solved_submission_is_followed_by_its_rank_and_the_next_challenge(
    server: Stub, cli: Cli, kernel: str
) -> None:
    done(server, accepted())
    assert "Next: " not in cli("status", "abc123").out, "a server of an older release"
    stands = Standing(
        submission="abc123", rank=2, entry="def456", others=11, slower=8, level=2, percentile=81.8, sol=0.4,
        next="softmax", next_title="Softmax",
    )  # fmt: skip
    server.answer(f"GET {ID}/standing", stands.model_dump(mode="json"))
    for command in ("status", "watch"):
        said = cli(command, "abc123").out
        assert (
            "Rank 2 of 12, with def456. Faster than 8 of 11 other entries, level with 2. Percentile 82. "
            "40% of the speed of light." in said
        )
        assert "Next: softmax (Softmax)" in said
    last = json.loads(cli("watch", "abc123", "--json").out.splitlines()[-1])
    assert (last["report"]["verdict"], last["standing"]["rank"]) == ("accepted", 2)
    whole = json.loads(cli("submit", kernel, "-c", "vector_add", "--wait", "--json").out)
    assert (whole["submission"], whole["verdict"], whole["standing"]["rank"]) == ("abc123", "accepted", 2)


def test_kernels_are_compared_by_counters(server: Stub, cli: Cli) -> None:
    mine = ComparedKernel(
        key="abc123", name="your kernel", language=Language.CUDA, filename="a.cu", source="// mine"
    )
    other = mine.model_copy(update={"key": "staff-cuda", "name": "staff's solution", "source": "// theirs"})
    counters = [Counter(name="Bank passes", texts=("32, ideally 1", "1"), factor=32, worse=0, largest=True)]
    workload = ComparedWorkload(
        name="large", sizes={"n": 10}, times_us=(9.0, None), ci_us=((9, 9), (0, 1)),
        counted=SideBySide(counters=counters, sentence="Your kernel takes longer because of line 4."),
    )  # fmt: skip
    choices = [KernelChoice(key=key, whose=Whose.OTHERS, label="Rank 1: bob") for key in ("staff-cuda", "x1")]
    found = KernelComparison(
        mine=mine, other=other, choices=choices, workloads=[workload], commentary="Why.", closed="Closed now."
    )
    server.answer(f"GET {ID}/comparison", found.model_dump(mode="json"))
    ran = cli("compare", "abc123", "staff-cuda", "--source")
    assert ran.code == 0
    for words in ("32, ideally 1", "32 times (largest)", "because of line 4.", "Why.", "// theirs"):
        assert words in ran.out
    assert "Also open: x1  Rank 1: bob" in ran.err
    assert "Closed now." in ran.err
    assert server.asked[-1].path.endswith("?against=staff-cuda")
    assert json.loads(cli("compare", "abc123", "staff-cuda", "--json").out)["other"]["key"] == "staff-cuda"


def test_status_shows_a_waiting_submission(server: Stub, cli: Cli) -> None:
    waiting = view(State.QUEUED, position=3, expected_wait_s=21.4)
    server.answer(f"GET {ID}", waiting.model_dump(mode="json"))
    ran = cli("status", "abc123")
    assert ran.code == 0
    assert "queued, place 3, about 21 s" in ran.out


def test_status_shows_the_reason_for_waiting(server: Stub, cli: Cli) -> None:
    waiting = view(State.QUEUED, position=3, waits_for=PAUSED)
    server.answer(f"GET {ID}", waiting.model_dump(mode="json"))
    out = " ".join(cli("status", "abc123").out.split())
    assert "queued, place 3. Staff have paused all queues: [exam] (since 2026-01-0" in out
    ahead = WaitsFor(reason=WaitReason.AHEAD, text="2 submissions are ahead of it.")
    server.answer(f"GET {ID}", view(State.QUEUED, position=3, waits_for=ahead).model_dump(mode="json"))
    assert cli("status", "abc123").out.rstrip().endswith("queued, place 3"), "which the place says already"


def test_cancel_reports_the_outcome(server: Stub, cli: Cli) -> None:
    server.answer(f"POST {ID}/cancel", view(State.CANCELLED).model_dump(mode="json"))
    assert "abc123 is cancelled." in cli("cancel", "abc123").out
    server.answer(f"POST {ID}/cancel", {"error": errors.Conflict("It is done.").as_dict()}, 409)
    assert cli("cancel", "abc123").code == 2


def test_history_lists_submissions(server: Stub, cli: Cli) -> None:
    done = view(State.DONE, verdict="accepted", score=accepted().score)
    both = [done.model_dump(mode="json"), view(State.TESTING).model_dump(mode="json")]
    server.answer("GET /submissions", {"submissions": both, "total": 9})
    ran = cli("history", "-c", "vector_add", "--limit", "2", "--all")
    assert ran.code == 0
    assert "ACCEPTED" in ran.out
    assert "testing" in ran.out
    assert "2 of 9" in ran.err
    assert server.asked[0].path.endswith("?everyone=true&challenge=vector_add&limit=2")


def test_history_fits_a_narrow_terminal(server: Stub, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    slug = "masked_scaled_matmul_backward"
    done = view(State.DONE, verdict="accepted", score=accepted().score, challenge=slug)
    server.answer("GET /submissions", {"submissions": [done.model_dump(mode="json")], "total": 1})
    narrow(monkeypatch, 80)
    ran = cli("history")
    heading, row = ran.out.splitlines()
    assert row.split()[:2] == ["abc123", slug]
    assert "language" not in heading
    assert "too narrow for: language" in ran.err


@pytest.mark.parametrize(
    ("name", "slug"),
    [("vector_add.py", "vector_add"), ("Vector-Add.v2.py", "vector_add"), ("add_3.py", "add")],
)
def test_the_file_names_the_challenge(server: Stub, cli: Cli, home: Path, name: str, slug: str) -> None:
    done(server, accepted())
    listed = views.summary(find_catalogue().load("vector_add"))
    every = [listed.model_copy(update={"slug": slug}).model_dump(mode="json") for slug in ("add", "add_bias")]
    server.answer("GET /challenges", {"challenges": [listed.model_dump(mode="json"), *every]})
    (home / name).write_text("import triton\n")
    assert cli("submit", name).code == 0
    assert json.loads(server.asked[-1].body)["challenge"] == slug


def test_a_file_without_a_challenge_name_is_refused(server: Stub, cli: Cli, home: Path) -> None:
    """A name that only begins like a challenge may mean another one that is not here."""
    listed = views.summary(find_catalogue().load("vector_add"))
    server.answer("GET /challenges", {"challenges": [listed.model_dump(mode="json")]})
    (home / "vector_add_backward.py").write_text("import triton\n")
    ran = cli("submit", "vector_add_backward.py")
    assert ran.code == 2
    assert "-c SLUG" in ran.err
    assert [request.method for request in server.asked] == ["GET"]


def test_the_report_comes_with_the_id(server: Stub, cli: Cli, kernel: str) -> None:
    done(server, accepted())
    told = json.loads(cli("submit", kernel, "-c", "vector_add", "--wait", "--json").out)
    assert (told["submission"], told["verdict"]) == ("abc123", "accepted")


def test_a_syntax_error_is_shown_before_anything_is_sent(server: Stub, cli: Cli, home: Path) -> None:
    (home / "mine.py").write_text("import triton\n\nx = = 1\n")
    ran = cli("submit", "mine.py", "-c", "vector_add")
    assert ran.code == 2
    assert "mine.py: SyntaxError in line 3: invalid syntax\n    x = = 1\n        ^\n" in ran.err
    assert server.asked == []
    done(server, accepted())
    assert cli("submit", "mine.py", "-c", "vector_add", "--no-check").code == 0


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.py", b"", "empty"),
        ("binary.py", b"\x00\x01", "binary"),
        ("latin.py", b"# \xe9\n", "not UTF-8"),
        ("large.py", b"#" * (limits.SOURCE_BYTES + 1), "larger than"),
        ("what.txt", b"x", "does not belong to a language"),
    ],
)
@pytest.mark.parametrize("command", ["submit", "test"])
def test_files_that_are_refused_before_anything_is_sent(
    server: Stub, cli: Cli, home: Path, command: str, name: str, content: bytes, words: str
) -> None:
    (home / name).write_bytes(content)
    ran = cli(command, name, "-c", "vector_add")
    assert ran.code == 2
    assert words in ran.err
    assert name in ran.err
    assert server.asked == []


@pytest.mark.parametrize(
    ("name", "source", "other"),
    [
        ("vector_add.cu", "import triton\n\n@triton.jit\ndef add(a): pass\n", "triton"),
        ("vector_add.py", "__global__ void add() {}\n", "cuda"),
    ],
)
def test_a_source_of_another_language_is_not_sent(
    server: Stub, cli: Cli, home: Path, name: str, source: str, other: str
) -> None:
    (home / name).write_text(source)
    ran = cli("submit", name)
    assert (ran.code, server.asked) == (2, [])
    assert f"--language {other}" in ran.err


def test_submit_names_the_competition(server: Stub, cli: Cli, kernel: str) -> None:
    done(server, accepted())
    sent = view(State.QUEUED, competition="spring-cup")
    server.answer("POST /submissions", sent.model_dump(mode="json"), 201)
    assert (
        "Submitted abc123 for the competition spring-cup."
        in cli("submit", kernel, "-c", "vector_add", "--wait").err
    )


def test_missing_and_unreadable_files_are_refused(server: Stub, cli: Cli, home: Path) -> None:
    assert "There is no file 'gone.py'" in cli("submit", "gone.py", "-c", "x").err
    assert "cannot be read" in cli("submit", str(home), "-c", "x", "-l", "triton").err


def test_a_seed_needs_its_case(cli: Cli, kernel: str) -> None:
    ran = cli("test", kernel, "-c", "vector_add", "--seed", "3")
    assert ran.code == 2
    assert "--case" in ran.err
