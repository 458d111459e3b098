"""The first page: map, list and filter, and the welcome for strangers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from markupsafe import escape
from pydantic import ValidationError

from grader.challenge.catalogue import find_catalogue
from grader.languages import Language
from grader.schemas.challenge import ChallengeSummary
from grader.service.accounts.accounts import User
from grader.service.platform import Platform, open_platform
from grader.web.app import create_app
from grader.web.pages.home import COLUMNS, ROWS, NodeStanding, track_map
from tests.web import builders
from tests.web.conftest import Visit

CHALLENGES = find_catalogue().slugs()
HOME_CSS = Path(__file__).parents[2] / "web" / "static" / "home.css"


def summary(slug: str, *prerequisites: str) -> ChallengeSummary:
    return ChallengeSummary(
        slug=slug,
        title=slug.title(),
        track="t",
        prerequisites=list(prerequisites),
        difficulty="easy",
        tags=[],
        version=1,
        languages=[Language.TRITON],
    )


class TestTrackMaps:
    def places(self, *members: ChallengeSummary) -> dict[str, tuple[int, int]]:
        made = track_map("t", "", members, {}, NodeStanding({}))
        return {node.challenge.slug: (node.column, node.row) for node in made.nodes}

    def test_a_challenge_is_right_of_its_prerequisites(self) -> None:
        found = self.places(summary("a"), summary("b", "a"), summary("c", "a"), summary("d", "c", "b"))
        assert found == {"a": (1, 1), "b": (2, 1), "c": (2, 2), "d": (3, 2)}

    def test_no_two_challenges_share_a_place(self) -> None:
        members = [summary("a"), *(summary(f"b{number}", "a") for number in range(9)), summary("c")]
        places = self.places(*members)
        assert len(set(places.values())) == len(members)

    def test_each_prerequisite_of_the_track_has_a_line(self) -> None:
        made = track_map(
            "t", "", [summary("a", "elsewhere"), summary("b", "a")], {"elsewhere": "Far"}, NodeStanding({})
        )
        assert made.joined
        assert made.edges == ["M176 40H186C200 40 188 40 202 40H212"]
        assert (made.width, made.height) == (388, 80)
        assert [node.after for node in made.nodes] == [["Far"], []]

    def test_a_prerequisite_cycle_ends(self) -> None:
        assert len(self.places(summary("a", "b"), summary("b", "a"), summary("c", "c"))) == 3

    @pytest.mark.parametrize("count", [2, COLUMNS, COLUMNS + 1, 200])
    def test_a_track_too_long_for_columns_is_a_sequence(self, count: int) -> None:
        members = [summary("s0"), *(summary(f"s{at}", f"s{at - 1}") for at in range(1, count))]
        assert track_map("t", "", members, {}, NodeStanding({})).joined is (count <= COLUMNS)

    def test_every_place_has_a_css_class(self) -> None:
        sheet = HOME_CSS.read_text()
        assert f".col-{COLUMNS} {{ grid-column: {COLUMNS}; }}" in sheet
        assert f".row-{ROWS} {{ grid-row: {ROWS}; }}" in sheet


def listed(client: FlaskClient, query: str) -> list[str]:
    page = client.get(f"/?{query}").text.partition('id="list"')[2]
    return re.findall(r'class="cover" href="/challenges/(\w+)"', page)


class TestFilter:
    def test_challenges_are_filtered_by_words(self, visit: Visit) -> None:
        browser = visit(None)
        assert "softmax" in listed(browser, "q=SOFTMAX")
        assert listed(browser, "q=matrix+transpose") == ["transpose"]
        assert listed(browser, "q=histogram+transpose") == []
        assert len(listed(browser, "")) == len(CHALLENGES)

    def test_challenges_are_filtered_by_track_difficulty_and_language(self, visit: Visit) -> None:
        browser = visit(None)
        assert listed(browser, "track=fundamentals") == ["vector_add", "saxpy", "relu"]
        hard = listed(browser, "difficulty=hard")
        assert "conv2d" in hard
        assert "relu" not in hard
        assert len(listed(browser, "language=cuda&track=fundamentals")) == 3
        assert listed(browser, "difficulty=perl") == []

    def test_challenges_are_filtered_by_state(self, visit: Visit, platform: Platform, ada: User) -> None:
        builders.judged(platform, ada, builders.accepted())
        builders.judged(platform, ada, builders.wrong(challenge="relu"), challenge="relu")
        browser = visit(ada)
        assert listed(browser, "state=solved") == ["vector_add"]
        assert listed(browser, "state=attempted") == ["relu"]
        assert len(listed(browser, "state=open")) == len(CHALLENGES) - 2
        assert len(listed(visit(None), "state=solved")) == len(CHALLENGES)

    def test_the_filter_form_keeps_its_values(self, visit: Visit) -> None:
        page = visit(None).get("/?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&difficulty=easy").text
        assert "<script>alert" not in page
        assert 'value="&#34;&gt;&lt;script&gt;' in page
        assert "<option selected>easy</option>" in page
        assert "No challenge is like that." in page


def test_the_map_marks_solved_and_next_challenges(visit: Visit, platform: Platform, ada: User) -> None:
    builders.judged(platform, ada, builders.accepted())
    page = visit(ada).get("/").text
    assert re.search(r'<li class="node solved[^"]*">\s*<div class="name">.*Vector addition', page)
    assert re.search(r'<li class="node next[^"]*">\s*<div class="name">.*SAXPY', page)
    assert "1.31×" in page
    assert 'class="track-maps"' not in visit(ada).get("/?q=relu").text


def test_visitors_see_a_welcome_with_first_steps(visit: Visit, ada: User) -> None:
    page = visit(None).get("/").text
    assert 'href="/challenges/vector_add">Begin with Vector addition</a>' in page
    assert re.search(r"pip install http://localhost/client/kernel_grader-[\w.]+-py3-none-any\.whl<", page)
    assert "grader login --server http://localhost" in page
    assert "pip install" not in visit(ada).get("/").text


def test_a_setting_replaces_the_install_command(tmp_path: Path) -> None:
    command = "pip install 'kernel-grader' --pre"
    platform = open_platform(builders.make_settings(tmp_path, client_install=command))
    page = create_app(platform).test_client().get("/").text
    platform.close()
    assert f'<code id="install" tabindex="0">{escape(command)}</code>' in page
    assert "how to install the command line" not in page


@pytest.mark.parametrize("command", ["pip install x\nrm -rf /", "x" * 201])
def test_an_install_command_of_several_lines_is_refused(tmp_path: Path, command: str) -> None:
    with pytest.raises(ValidationError, match="client_install"):
        builders.make_settings(tmp_path, client_install=command)
