"""`challenge diff` against git and a platform, and `admin`'s commands for versions."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader import errors
from grader.challenge.catalogue import Catalogue
from grader.challenge.fingerprint import content
from grader.languages import Language
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.schemas.version import (
    ComparedRank,
    ComparedSubmission,
    Comparison,
    Judgement,
    VersionContent,
    VersionDiff,
    VersionList,
    VersionView,
)
from tests.cli.conftest import Cli
from tests.cli.stub import Stub
from tests.service.world import make_catalogue


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


@pytest.fixture
def catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Catalogue:
    root = tmp_path / "repository" / "catalogue"
    make_catalogue(root)
    git(root.parent, "init", "-q")
    git(root.parent, "add", ".")
    git(root.parent, "commit", "-qm", "first")
    monkeypatch.setenv("GRADER_CHALLENGES", str(root))
    return Catalogue(root)


def edit(catalogue: Catalogue, old: str, new: str, name: str = "challenge.toml") -> None:
    path = catalogue.root / "challenges" / "scale" / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


class TestDiff:
    def test_text_changes_need_no_new_version(self, cli: Cli, catalogue: Catalogue) -> None:
        edit(catalogue, 'title = "Scale"', 'title = "Scaling"')
        ran = cli("challenge", "diff", "scale")
        assert (ran.code, ran.out) == (0, "")
        assert "no new version is needed" in ran.err

    def test_changes_of_judging_need_a_new_version(self, cli: Cli, catalogue: Catalogue) -> None:
        edit(catalogue, "n=7,", "n=11,", "cases.py")
        edit(catalogue, "n=4,", "n=5,", "cases.py")
        edit(catalogue, '"ones", "ones"', '"all_ones", "ones"', "cases.py")
        edit(catalogue, "value = 2.0", "value = 4.0")
        (catalogue.root / "reference" / "scale" / "reference.py").write_text("def reference():\n    pass\n")
        ran = cli("challenge", "diff", "scale")
        assert ran.code == 1
        for words in (
            "changed  signature",
            "alpha.value: 2 -> 4",
            "changed  cases seven",
            "sizes.n: 7 -> 11",
            "removed  cases ones",
            "added    cases all_ones",
            "changed  reference",
            "+def reference():",
        ):
            assert words in ran.out, words
        assert "set `version = 2`" in ran.err
        told = VersionDiff.model_validate_json(cli("challenge", "diff", "scale", "--json").out)
        assert (told.needs_version, told.version_before, told.version_after) == (True, 1, 1)
        assert {(change.part, change.name, change.kind) for change in told.changes} >= {
            ("cases", "seven", "changed")
        }

    def test_changes_under_a_new_number_pass(self, cli: Cli, catalogue: Catalogue) -> None:
        edit(catalogue, "value = 2.0", "value = 4.0")
        edit(catalogue, "version = 1", "version = 2")
        ran = cli("challenge", "diff", "scale")
        assert ran.code == 0
        assert "From version 1 to version 2" in ran.err

    def test_diff_compares_with_another_commit(self, cli: Cli, catalogue: Catalogue) -> None:
        edit(catalogue, "value = 2.0", "value = 4.0")
        git(catalogue.root, "commit", "-qam", "second")
        assert cli("challenge", "diff", "scale").code == 0
        assert cli("challenge", "diff", "scale", "--against", "HEAD~1").code == 1

    @pytest.mark.parametrize("reference", ["nowhere", "--output=x", ""])
    def test_diff_refuses_an_unknown_commit(self, cli: Cli, catalogue: Catalogue, reference: str) -> None:
        ran = cli("challenge", "diff", "scale", f"--against={reference}")
        assert ran.code == 2
        assert "git does not know the commit" in ran.err

    def test_diff_of_a_new_challenge_is_refused(self, cli: Cli, catalogue: Catalogue) -> None:
        (catalogue.root / "challenges" / "scale").rename(catalogue.root / "challenges" / "fresh")
        ran = cli("challenge", "diff", "fresh")
        assert ran.code == 2
        assert "'HEAD' has no challenge 'fresh'" in ran.err

    def test_diff_compares_with_a_version_of_the_platform(
        self, cli: Cli, catalogue: Catalogue, server: Stub
    ) -> None:
        parts = VersionContent(challenge="scale", version=3, content=content(catalogue.load("scale")))
        server.answer("GET /challenges/scale/versions/3", parts.model_dump(mode="json"))
        assert cli("challenge", "diff", "scale", "--against", "3").code == 0
        edit(catalogue, "value = 2.0", "value = 4.0")
        edit(catalogue, "version = 1", "version = 3")
        ran = cli("challenge", "diff", "scale", "--against", "3")
        assert ran.code == 1
        assert "set `version = 4`" in ran.err
        edit(catalogue, "version = 3", "version = 4")
        assert cli("challenge", "diff", "scale", "--against", "3").code == 0

    def test_students_are_refused(self, cli: Cli, catalogue: Catalogue, server: Stub) -> None:
        refusal = {"error": errors.NotAllowed("Only staff may do that.").as_dict()}
        server.answer("GET /challenges/scale/versions/1", refusal, 403)
        assert cli("challenge", "diff", "scale", "--against", "1").code == 3


def listed() -> VersionList:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    first = VersionView(
        version=1, fingerprint="ab" * 32, served_at=moment, published_at=moment, shown=True, judged=5
    )
    second = VersionView(version=2, fingerprint="cd" * 32, served_at=moment, shown=False, judged=4)
    return VersionList(challenge="scale", folder=2, versions=[first, second])


def comparison() -> Comparison:
    def side(name: str, verdict: Verdict, time_us: float | None) -> Judgement:
        return Judgement(id=name, state=State.DONE, verdict=verdict, time_us=time_us)

    def pair(user: str, before: Judgement, after: Judgement | None, changed: bool) -> ComparedSubmission:
        return ComparedSubmission(
            submission=before.id,
            user=user,
            language=Language.CUDA,
            device="h200",
            before=before,
            after=after,
            verdict_changed=changed,
            time_ratio=None if changed or after is None else 1.5,
        )

    return Comparison(
        challenge="scale",
        before=1,
        after=2,
        shown=1,
        judged=2,
        waiting=0,
        failed=1,
        not_ordered=1,
        median_time_ratio=1.5,
        submissions=[
            pair("ada", side("aaa", Verdict.ACCEPTED, 10.0), side("bbb", Verdict.WRONG_ANSWER, None), True),
            pair("bob", side("ccc", Verdict.ACCEPTED, 10.0), side("ddd", Verdict.ACCEPTED, 15.0), False),
            pair("eve", side("eee", Verdict.ACCEPTED, 10.0), None, False),
        ],
        ranks=[
            ComparedRank(device="h200", user="ada", before=1, after=None),
            ComparedRank(device="h200", user="zoe", before=3, after=3),
        ],
    )


class TestAdmin:
    def test_versions_are_listed(self, cli: Cli, server: Stub) -> None:
        answer = listed().model_dump(mode="json")
        server.answer("GET /challenges/scale/versions", answer)
        ran = cli("admin", "versions", "scale")
        assert ran.code == 0
        assert "not published" in ran.out
        assert "abababababab" in ran.out
        assert json.loads(cli("admin", "versions", "scale", "--json").out) == answer

    def test_a_folder_without_judgements_is_listed(self, cli: Cli, server: Stub) -> None:
        server.answer("GET /challenges/scale/versions", {**listed().model_dump(mode="json"), "folder": 3})
        assert (
            "Nothing has been judged under the folder's version 3 yet"
            in cli("admin", "versions", "scale").err
        )

    @pytest.mark.parametrize(("options", "ranked"), [([], False), (["--ranked"], True)])
    def test_rejudge_reports_what_was_ordered(
        self, cli: Cli, server: Stub, options: list[str], ranked: bool
    ) -> None:
        answer = {
            "challenge": "scale",
            "version": 2,
            "queued": 5,
            "waiting": 7,
            "left_out": 0,
            "regrade": None,
        }
        server.answer("POST /challenges/scale/rejudge", answer)
        ran = cli("admin", "rejudge", "scale", *options)
        assert (ran.code, ran.out) == (0, "")
        assert "5 submissions will be judged again under version 2; 7 are waiting" in ran.err
        assert json.loads(server.asked[0].body) == {"ranked": ranked}
        assert json.loads(cli("admin", "rejudge", "scale", "--json").out) == answer

    def test_compare_prints_the_changes(self, cli: Cli, server: Stub) -> None:
        answer = comparison().model_dump(mode="json")
        server.answer("GET /challenges/scale/comparison", answer)
        ran = cli("admin", "compare", "scale", "--before", "1", "--after", "2")
        assert ran.code == 0
        assert server.asked[0].path.endswith("?before=1&after=2")
        for words in (
            "2 judged under both",
            "1 with another verdict, new time / old time 1.5",
            "WRONG ANSWER",
            "not ordered",
            "1.50x",
        ):
            assert words in ran.out, words
        assert "zoe" not in ran.out, "whose rank is the same"
        assert "grader admin rejudge scale" in ran.err
        assert "grader admin publish scale" in ran.err
        assert json.loads(cli("admin", "compare", "scale", "--json").out) == answer

    @pytest.mark.parametrize(("options", "force"), [([], False), (["--force"], True)])
    def test_publish_switches_the_board(
        self, cli: Cli, server: Stub, options: list[str], force: bool
    ) -> None:
        answer = listed().model_dump(mode="json")
        server.answer("POST /challenges/scale/publish", answer)
        ran = cli("admin", "publish", "scale", *options)
        assert ran.code == 0
        assert "board of version 2" in ran.err
        assert json.loads(server.asked[0].body) == {"force": force}
        assert json.loads(cli("admin", "publish", "scale", "--json").out) == answer

    def test_a_changed_folder_is_reported_with_its_fix(self, cli: Cli, server: Stub) -> None:
        error = errors.ChallengeChanged("scale is not what was served.", "Set `version = 2`.")
        server.answer("POST /challenges/scale/publish", {"error": error.as_dict()}, 409)
        ran = cli("admin", "publish", "scale")
        assert ran.code == 2
        assert "Set `version = 2`." in ran.err
