"""A course's catalogue in git: real local repositories, fetched by git, checked in the queue."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from pathlib import Path

import pytest

from grader import limits
from grader.challenge.bundle import Bundle
from grader.errors import BadRequest, NotAllowed, NotFound
from grader.queue.checker import Checker
from grader.queue.loop import Stopper
from grader.records.engine import writing
from grader.records.models import UploadRow
from grader.sandbox.local_box import LocalBoxes
from grader.schemas.course_catalogue import RepositoryBody, RepositoryView
from grader.schemas.proof import Check, Proof, Status
from grader.schemas.upload import CheckState, SpecBody, SyncState
from grader.service.accounts.accounts import User
from grader.service.challenges import catalogue_sync, course_catalogue, git_tree, publication, uploads
from grader.service.challenges.git_tree import FILE, Remote
from grader.service.courses import courses
from grader.service.platform import Platform
from grader.settings import Settings
from tests.service.challenges.catalogues import Repository, body, make_course, scale
from tests.service.challenges.test_who_sees_what import assign
from tests.service.examining import examine


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"git_hosts": FILE})


@pytest.fixture
def ours(platform: Platform, staff: User, other: User) -> User:
    return make_course(platform, staff, "a", other)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "course.git")


def synchronise(platform: Platform, user: User) -> None:
    course_catalogue.synchronise(platform, user, "a")
    assert catalogue_sync.serve_one(platform)


def source(platform: Platform, user: User) -> RepositoryView:
    found = course_catalogue.get_catalogue(platform, user, "a").source
    assert found is not None
    return found


def follow(platform: Platform, user: User, repository: Repository) -> None:
    course_catalogue.set_source(platform, user, "a", RepositoryBody(url=repository.url))


def version(made: Bundle, number: int) -> Bundle:
    manifest = f"challenges/{made.slug}/challenge.toml"
    return made.with_file(manifest, made.text(manifest).replace("version = 1", f"version = {number}"))


def test_a_commit_is_served_once_it_is_proven_and_a_broken_one_never(
    platform: Platform, ours: User, student: User, repository: Repository
) -> None:
    made = scale(platform, "tile")
    first = repository.commit({**made.files, "README.md": b"# Ours\n", "challenges/tracks.toml": b""})
    with pytest.raises(NotFound, match="no repository"):
        course_catalogue.synchronise(platform, ours, "a")
    with pytest.raises(NotFound):
        course_catalogue.set_source(platform, student, "a", RepositoryBody(url=repository.url))
    follow(platform, ours, repository)
    synchronise(platform, ours)
    assert (source(platform, ours).state, source(platform, ours).served_commit) == (SyncState.CHECKING, None)
    examine(platform)
    catalogue_sync.settle(platform)
    assert (source(platform, ours).state, source(platform, ours).served_commit) == (SyncState.SERVED, first)
    assert publication.get_state(platform, ours, "tile").course == "a"
    publication.publish(platform, ours, "tile")
    assign(platform, ours, "a", "tile")

    # Its reference is not Python, which the real check finds in a box.
    second = repository.commit({"reference/tile/reference.py": b"def reference(:\n"})
    course_catalogue.synchronise(platform, ours, "a")
    checker = Checker(platform, LocalBoxes(), "w", Stopper())
    assert checker.serve_one()
    assert checker.serve_one()
    assert not checker.serve_one()
    found = source(platform, ours)
    assert (found.state, found.commit, found.served_commit) == (SyncState.REFUSED, second, first)
    assert f"Commit {second[:10]} is not served. tile is not proven, its check says broken" in found.error
    assert found.error.endswith(f"Commit {first[:10]} goes on.")
    assert uploads.get_upload(platform, ours, "tile", 1).upload.in_use
    assert platform.catalogue.load("tile").manifest.version == 1

    repository.git("rm", "--quiet", "-r", "challenges/tile", "reference/tile")
    repository.commit(scale(platform, "other").files)
    synchronise(platform, ours)
    examine(platform)
    catalogue_sync.settle(platform)
    assert "It lacks tile, which the assignment one uses." in source(platform, ours).error
    assert "other" not in platform.catalogue.slugs(), "a commit is served as a whole"

    third = repository.commit({**version(made, 2).files})
    synchronise(platform, ours)
    examine(platform)
    catalogue_sync.settle(platform)
    found = source(platform, ours)
    assert (found.state, found.served_commit, found.error) == (SyncState.SERVED, third, "")
    assert platform.catalogue.load("tile").manifest.version == 2
    assert "other" in platform.catalogue.slugs()
    log = courses.get_audit(platform, ours, "a", 10, None).entries
    assert log[0].after is not None
    assert (log[0].actor, log[0].after["commit"]) == (ours.name, third)


def test_a_weak_challenge_that_is_new_is_left_out_and_named(
    platform: Platform, ours: User, repository: Repository
) -> None:
    repository.commit({**scale(platform, "good").files, **scale(platform, "hole").files})
    follow(platform, ours, repository)
    synchronise(platform, ours)
    examine(platform)
    found = Check(name="mutants", status=Status.WEAK, summary="3 of 8 pass every case")
    with writing(platform.sessions) as session:
        row = session.query(UploadRow).filter_by(challenge="hole").one()
        row.check_state = CheckState.WEAK
        row.check_result = Proof(slug="hole", checks=[found], seconds=1.0).model_dump_json()
    catalogue_sync.settle(platform)
    assert source(platform, ours).state is SyncState.SERVED
    assert source(platform, ours).error == (
        "hole is not proven, its check says weak: mutants, 3 of 8 pass every case (upload 1)."
    )
    listed = course_catalogue.get_catalogue(platform, ours, "a").challenges
    assert [(each.challenge, each.in_use) for each in listed] == [("good", 1), ("hole", None)]


def test_an_edit_in_the_page_is_an_upload_like_any_other(
    platform: Platform, ours: User, repository: Repository
) -> None:
    repository.commit(scale(platform, "tile").files)
    follow(platform, ours, repository)
    synchronise(platform, ours)
    examine(platform)
    catalogue_sync.settle(platform)
    path = "challenges/tile/notes.md"
    assert uploads.edit_file(platform, ours, "tile", path, SpecBody(text="New\r\n", base=1)).number == 2
    assert uploads.get_files(platform, ours, "tile")[0][path] == "New\n"
    assert uploads.edit_file(platform, ours, "tile", path, SpecBody(text="", base=2)).number == 3
    assert path not in uploads.get_files(platform, ours, "tile")[0]
    for bad in ("challenges/other/spec.md", "challenges/tile/../x.md", "challenges/tile/x.so"):
        with pytest.raises(BadRequest, match="not a file of"):
            uploads.edit_file(platform, ours, "tile", bad, SpecBody(text="x", base=3))


def a_submodule(repository: Repository) -> None:
    head = repository.commit({"a": b"1"})
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{head},libs/x")
    repository.commit()


def a_link(repository: Repository) -> None:
    (repository.folder / "challenges").mkdir()
    (repository.folder / "challenges" / "out").symlink_to("/etc/passwd")
    repository.git("add", "--all")
    repository.commit()


def many_files(repository: Repository) -> None:
    blob = repository.git("hash-object", "-w", "--stdin", text="x")
    names = "".join(f"100644 {blob}\tchallenges/x/{n}.md\n" for n in range(10_000))
    repository.git("update-index", "--index-info", text=names)
    repository.commit()


def large_files(repository: Repository) -> None:
    # Zeros pack well: the transfer is small.
    repository.commit({"zeros": bytes(limits.GIT_BYTES + 1)})


def a_pointer(repository: Repository) -> None:
    repository.commit({"challenges/x/spec.md": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"})


def nothing(repository: Repository) -> None:
    repository.git("rm", "--quiet", "-r", "challenges")
    repository.commit({"README.md": b"x"})


def a_broken_manifest(repository: Repository) -> None:
    names = (
        "challenges/x/challenge.toml",
        "challenges/x/spec.md",
        "challenges/x/cases.py",
        "reference/x/reference.py",
    )
    repository.commit(dict.fromkeys(names, b"title ="))


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (a_submodule, "'libs/x' is a submodule"),
        (a_link, "'challenges/out' is a link"),
        (many_files, "more than 5,000 files"),
        (large_files, "more than 32 MiB together"),
        (a_pointer, "Git LFS"),
    ],
)
def test_what_a_catalogue_may_not_hold_is_named(
    repository: Repository, make: Callable[[Repository], None], why: str
) -> None:
    make(repository)
    with pytest.raises(BadRequest, match=why):
        git_tree.read(Remote(repository.url, "main"), [])


def test_a_commit_that_is_no_catalogue_stores_nothing(
    platform: Platform, ours: User, repository: Repository
) -> None:
    follow(platform, ours, repository)
    for make, state, why in (
        (a_link, SyncState.FAILED, "'challenges/out' is a link"),
        (nothing, SyncState.REFUSED, "It holds no challenge."),
        (a_broken_manifest, SyncState.REFUSED, "challenge.toml"),
    ):
        make(repository)
        synchronise(platform, ours)
        found = source(platform, ours)
        assert (found.state, found.served_commit) == (state, None)
        assert why in found.error
        assert course_catalogue.get_catalogue(platform, ours, "a").challenges == []


def test_a_repository_that_cannot_be_fetched_says_why(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"a": b"1"})
    for remote, why in (
        (Remote(repository.url, "none"), "has no branch none"),
        (Remote(f"file://{tmp_path}/nothing", "main"), "cannot be fetched"),
        # A local address is resolved and refused, never contacted.
        (Remote("https://localhost/x.git", "main", "ada:s3cret"), "has an internal address"),
        (Remote("https://169.254.169.254/x.git", "main"), "has an internal address"),
    ):
        with pytest.raises(BadRequest, match=why) as refused:
            git_tree.read(remote, [])
        assert "s3cret" not in refused.value.told


def test_credentials_appear_nowhere(platform: Platform, ours: User) -> None:
    """The operator allows this host, where nobody answers."""
    url = "https://ada:s3cr%2Fet@127.0.0.1:9/x.git"
    remote = git_tree.parse_remote(url, "main", [])
    assert (remote.url, remote.credential) == ("https://127.0.0.1:9/x.git", "ada:s3cr/et")
    with pytest.raises(BadRequest, match="cannot be fetched") as refused:
        git_tree.read(remote, ["127.0.0.1"])
    assert not any(secret in refused.value.told for secret in (*remote.secrets, "s3cr"))
    found = course_catalogue.set_source(platform, ours, "a", RepositoryBody(url=url))
    log = courses.get_audit(platform, ours, "a", 10, None)
    assert found.source is not None
    assert found.source.private
    assert "s3cr" not in found.model_dump_json() + log.model_dump_json()
    # The same address without credentials, as the page shows it, keeps them; another address does not.
    again = course_catalogue.set_source(platform, ours, "a", RepositoryBody(url=remote.url, branch="next"))
    assert again.source is not None
    assert again.source.private
    moved = course_catalogue.set_source(platform, ours, "a", RepositoryBody(url="https://127.0.0.1:9/y.git"))
    assert moved.source is not None
    assert not moved.source.private


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://git.uni.edu/x.git",
            "ssh://git@git.uni.edu/x.git",
            "git@git.uni.edu:x.git",
            "ext::sh -c id",
        ),
        *(
            "file:///etc",
            "/etc",
            "https:///x",
            "https://git.uni.edu/",
            "https://git.uni.edu/x?y=1",
            "https://a b/x",
        ),
        *("--upload-pack=id", "https://git.uni.edu:x/y", "https://-oProxy\n/x"),
    ],
)
def test_only_https_is_taken(url: str) -> None:
    with pytest.raises(BadRequest, match="address of a repository"):
        git_tree.parse_remote(url, "main", [])


@pytest.mark.parametrize("branch", ["--upload-pack=id", "a..b", "a b", "a:b", "x.lock", "-x"])
def test_odd_branches_are_refused(branch: str) -> None:
    with pytest.raises(BadRequest, match="name of a branch"):
        git_tree.parse_remote("https://git.uni.edu/x.git", branch, [])


def test_internal_addresses() -> None:
    internal = (
        "127.0.0.1 10.0.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 ::1 fe80::1 fd00::1"
    )
    internal += " ::ffff:10.0.0.1 64:ff9b::a00:1 2002:a00:1::"
    assert [each for each in internal.split() if git_tree.is_public(ipaddress.ip_address(each))] == []
    assert all(
        git_tree.is_public(ipaddress.ip_address(each)) for each in ("140.82.121.4", "2606:50c0:8000::153")
    )


def test_a_webhook_orders_a_synchronisation_until_its_key_is_replaced(
    platform: Platform, ours: User, repository: Repository
) -> None:
    follow(platform, ours, repository)
    old = course_catalogue.make_hook(platform, ours, "a", "https://x").url.rpartition("/")[2]
    course_catalogue.hook_called(platform, old)
    assert source(platform, ours).state is SyncState.WAITING
    new = course_catalogue.make_hook(platform, ours, "a", "https://x").url.rpartition("/")[2]
    for key in (old, "", "x" * 100):
        with pytest.raises(NotFound):
            course_catalogue.hook_called(platform, key)
    course_catalogue.hook_called(platform, new)
    course_catalogue.remove_source(platform, ours, "a")
    with pytest.raises(NotFound):
        course_catalogue.hook_called(platform, new)


def test_a_result_of_an_older_order_is_dropped(
    platform: Platform, ours: User, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit(scale(platform, "tile").files)
    follow(platform, ours, repository)
    read = git_tree.read

    def slow(*given: object) -> object:
        monkeypatch.undo()
        course_catalogue.synchronise(platform, ours, "a")  # during the first fetch
        return read(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(git_tree, "read", slow)
    synchronise(platform, ours)
    assert source(platform, ours).state is SyncState.WAITING
    assert catalogue_sync.serve_one(platform)
    assert source(platform, ours).state is SyncState.CHECKING


def test_another_courses_name_in_a_repository_is_refused(
    platform: Platform, staff: User, student: User, ours: User, repository: Repository
) -> None:
    theirs = make_course(platform, staff, "b", student)
    uploads.upload_to_course(platform, theirs, "b", body(scale(platform, "tile")))
    repository.commit(scale(platform, "tile").files)
    follow(platform, ours, repository)
    synchronise(platform, ours)
    assert "The name tile is taken" in source(platform, ours).error
    with pytest.raises(NotAllowed):
        uploads.get_upload(platform, ours, "tile", 1)
    # The same repository for another term: names and prerequisites get a prefix.
    second = scale(platform, "second")
    manifest = "challenges/second/challenge.toml"
    text = f'prerequisites = ["tile", "scale"]\n{second.text(manifest)}'
    repository.commit(second.with_file(manifest, text).files)
    course_catalogue.set_source(platform, ours, "a", RepositoryBody(url=repository.url, prefix="s27_"))
    synchronise(platform, ours)
    examine(platform)
    catalogue_sync.settle(platform)
    assert source(platform, ours).state is SyncState.SERVED
    assert platform.catalogue.load("s27_second").manifest.prerequisites == ["s27_tile", "scale"]
