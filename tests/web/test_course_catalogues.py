"""An instructor without rights on the platform uploads, edits, uses and publishes a challenge of her course
in the browser; her student finds it, and others do not.
"""

from __future__ import annotations

import io

from grader.challenge import bundle
from grader.challenge.bundle import Bundle
from grader.schemas.course import RosterBody
from grader.service.accounts.accounts import User
from grader.service.courses import rosters
from grader.service.platform import Platform
from tests.service.challenges.catalogues import make_course
from tests.service.courses.scenes import take_part
from tests.service.examining import examine
from tests.web import builders
from tests.web.conftest import Visit, csrf

API = "/api/v1"


def renamed(platform: Platform, slug: str) -> Bundle:
    made = bundle.of_challenge(platform.catalogue.load(builders.SLUG))
    return bundle.of_files(
        {path.replace(f"/{builders.SLUG}/", f"/{slug}/"): data for path, data in made.files.items()}
    )


def test_an_instructor_publishes_a_challenge_for_her_course(
    platform: Platform, visit: Visit, call: Visit, teacher: User, ada: User, bob: User, kim: User
) -> None:
    ada = make_course(platform, teacher, "gpu", ada)
    rosters.import_roster(platform, ada, "gpu", RosterBody(text="account\nbob\n", dry_run=False))
    take_part(platform, bob)
    client = visit(ada)
    home = "/courses/gpu/catalogue"
    token = csrf(client, home)

    def post(path: str, **form: object) -> tuple[int, str]:
        given = client.post(path, data={"csrf_token": token, **form}, content_type="multipart/form-data")
        return given.status_code, given.text + given.headers.get("Location", "")

    data = renamed(platform, "ours").packed()
    assert post(home, archive=(io.BytesIO(b"x"), "a.zip"))[0] == 400
    assert post("/uploads", archive=(io.BytesIO(data), "a.zip"))[0] == 403
    assert "/uploads/ours/1" in post(home, archive=(io.BytesIO(data), "a.zip"), note="first")[1]
    assert "Waiting for a worker." in client.get("/uploads/ours/1").text
    examine(platform)
    assert 'href="/challenges/ours/state"' in client.get(home).text
    assert visit(bob).get("/challenges/ours").status_code == 404

    offered = client.get("/challenges/ours/state").text
    assert "Members of course gpu alone see it: 1 student, and its staff." in offered
    assert "No assignment uses it." in offered
    assert post("/challenges/ours/state", state="published", one="1")[0] == 303
    assert visit(bob).get("/challenges/ours").status_code == 200
    assert visit(kim).get("/challenges/ours").status_code == 404
    assert call(kim).get(f"{API}/challenges/ours").status_code == 404
    report = builders.accepted(challenge="ours", version=builders.VERSION)
    builders.judged(platform, bob, report, challenge="ours")

    # A new version, edited in the page: before the button it names the boards and points that change.
    manifest = "challenges/ours/challenge.toml"
    page = client.get("/uploads/ours/spec", query_string={"file": manifest}).text
    assert "An empty text removes the file." in page
    text = renamed(platform, "ours").text(manifest)
    present = f"version = {builders.VERSION}"
    wrong = post("/uploads/ours/spec", file=manifest, text=text.replace(present, "version ="), base="1")
    assert wrong[0] == 400
    assert "challenge.toml" in wrong[1]
    newer = text.replace(present, f"version = {builders.VERSION + 1}")
    assert "/uploads/ours/2" in post("/uploads/ours/spec", file=manifest, text=newer, base="1")[1]
    examine(platform)
    offered = client.get("/uploads/ours/2").text
    assert f"Boards that begin empty again: <code>cpu</code>, version {builders.VERSION}, 1 entry." in offered
    assert "1 person has submissions for it, which stay." in offered
    assert post("/uploads/ours/2/use")[0] == 303
    assert platform.catalogue.load("ours").manifest.version == builders.VERSION + 1
    assert "Nothing is served under this name then." in client.get("/uploads/ours/2").text
    assert post("/challenges/ours/state", state="hidden", one="1")[0] == 303
    assert visit(bob).get("/challenges/ours").status_code == 404


def test_a_push_starts_a_synchronisation_by_the_hooks_address_alone(
    platform: Platform, visit: Visit, call: Visit, teacher: User, ada: User
) -> None:
    ada = make_course(platform, teacher, "gpu", ada)
    client = visit(ada)
    token = csrf(client, "/courses/gpu/catalogue")

    def post(**form: str) -> str:
        given = client.post("/courses/gpu/catalogue/source", data={"csrf_token": token, **form})
        assert given.status_code in (200, 303, 400), given.text
        return given.text

    assert "begins with https:// and a host" in post(url="http://git.uni.edu/x.git", branch="main")
    post(url="https://ada:s3cret@git.uni.edu/x.git", branch="main")
    shown = client.get("/courses/gpu/catalogue").text
    assert "https://git.uni.edu/x.git" in shown
    assert "s3cret" not in shown
    address = post(action="hook").partition("shown once: <code")[2].partition(">")[2].partition("<")[0]
    assert f"{API}/hooks/catalogue/" in address
    path = address[address.index(API) :]
    anyone = call(None)
    assert anyone.post(path, json={"ref": "refs/heads/main"}).status_code == 202
    assert "Waiting for a worker." in client.get("/courses/gpu/catalogue").text
    assert anyone.post(f"{path}x").status_code == 404
    assert anyone.get(path).status_code == 405
    post(action="remove")
    assert anyone.post(path).status_code == 404
