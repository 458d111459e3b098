from __future__ import annotations

import threading
from pathlib import Path

import pytest
from redis import Redis

from grader import limits
from grader.errors import (
    BadRequest,
    BadSource,
    Conflict,
    GraderError,
    LanguageNotServed,
    TooMany,
    UnknownChallenge,
    UnknownDevice,
    UnknownLanguage,
)
from grader.languages import Language
from grader.schemas.submission import State, SubmissionView
from grader.service.accounts.accounts import User
from grader.service.platform import Platform, open_platform
from grader.service.submissions.cancel import cancel
from grader.service.submissions.submissions import get_source, list_submissions
from grader.service.submissions.submit import StoredSubmission, SubmitOrder, row_of, store, submit
from tests.service.world import body, make_settings

pytestmark = pytest.mark.both_databases


def _count(platform: Platform, user: User) -> int:
    return list_submissions(platform, user).total


def test_a_submission_is_stored_queued_and_gets_a_wakeup(platform: Platform, student: User) -> None:
    view = submit(platform, student, body(source="\ufeffx = 1\n"))
    assert (view.state, view.language, view.device, view.version, view.position) == (
        State.QUEUED,
        Language.TRITON,
        "cpu",
        1,
        1,
    )
    assert len(view.id) == 10
    assert get_source(platform, student, view.id.upper()).source == "x = 1\n"
    assert platform.wakeups.waiting("run:cpu") == 1


def test_wakeups_hold_no_source(platform: Platform, student: User, redis_url: str) -> None:
    view = submit(platform, student, body(source="a secret = 1"))
    client = Redis.from_url(redis_url)
    held = b"".join(str(client.hgetall(key)).encode() for key in client.keys("rq:job:*"))
    client.close()
    assert b"run:cpu" in held
    assert b"secret" not in held
    assert view.id.encode() not in held


def _refused(platform: Platform, student: User, kind: type[GraderError], **values: object) -> GraderError:
    with pytest.raises(kind) as caught:
        submit(platform, student, body(**values))
    assert caught.value.message
    assert _count(platform, student) == 0
    assert platform.wakeups.waiting("run:cpu") == 0
    return caught.value


def test_an_empty_source_is_refused(platform: Platform, student: User) -> None:
    assert "empty" in _refused(platform, student, BadSource, source=" \n\t").message


def test_a_too_large_source_is_refused(platform: Platform, student: User) -> None:
    source = "#" * (limits.SOURCE_BYTES + 1)
    assert "at most" in _refused(platform, student, BadSource, source=source).message


def test_a_binary_source_is_refused(platform: Platform, student: User) -> None:
    assert "binary" in _refused(platform, student, BadSource, source="x\0y").message


def test_a_source_outside_utf8_is_refused(platform: Platform, student: User) -> None:
    assert "UTF-8" in _refused(platform, student, BadSource, source="x = '\ud800'").message


def test_an_unknown_challenge_is_refused(platform: Platform, student: User) -> None:
    assert "scale" in _refused(platform, student, UnknownChallenge, challenge="nope").hint


@pytest.mark.parametrize("slug", ["../course", "", "scale/..", "x" * 5000])
def test_a_path_as_challenge_is_refused(platform: Platform, student: User, slug: str) -> None:
    _refused(platform, student, UnknownChallenge, challenge=slug)


def test_an_unknown_language_is_refused(platform: Platform, student: User) -> None:
    _refused(platform, student, UnknownLanguage, language="rust")


def test_an_unknown_file_suffix_is_refused(platform: Platform, student: User) -> None:
    _refused(platform, student, UnknownLanguage, filename="a.rs")


def test_a_language_that_the_challenge_does_not_take_is_refused(platform: Platform, student: User) -> None:
    assert "cuda" in _refused(platform, student, UnknownLanguage, challenge="only_cuda").hint


def test_an_unknown_device_is_refused(platform: Platform, student: User) -> None:
    assert "cpu" in _refused(platform, student, UnknownDevice, device="h200").hint


@pytest.mark.parametrize("device", ["cpu", None])
def test_cuda_without_a_gpu_is_refused(platform: Platform, student: User, device: str | None) -> None:
    error = _refused(platform, student, LanguageNotServed, filename="a.cu", device=device)
    where = f"The device '{device}'" if device else "This platform"
    assert error.message == f"{where} has no GPU, so it cannot run cuda."
    assert "grader test" in error.hint


def test_a_too_long_file_name_is_refused(platform: Platform, student: User) -> None:
    _refused(platform, student, BadRequest, filename="a" * (limits.FILENAME_CHARS - 2) + ".py")
    longest = "a" * (limits.FILENAME_CHARS - 3) + ".py"
    assert submit(platform, student, body(filename=longest)).filename == longest


@pytest.mark.parametrize("key", ["", "k" * 129])
def test_a_bad_idempotency_key_is_refused(platform: Platform, student: User, key: str) -> None:
    with pytest.raises(BadRequest, match="idempotency"):
        submit(platform, student, body(), key)


@pytest.mark.parametrize("key", ["k", "k" * 128])
def test_a_key_has_1_to_128_characters(platform: Platform, student: User, key: str) -> None:
    first = submit(platform, student, body(), key)
    again = submit(platform, student, body(), key)
    assert (again.id, again.reused) == (first.id, False)


def test_a_key_reused_for_another_device_is_a_conflict(tmp_path: Path, redis_url: str) -> None:
    platform = open_platform(make_settings(tmp_path, redis_url, devices="cpu, h200"))
    from grader.service.accounts.accounts import create_user

    user = create_user(platform, "ada", "correct horse")
    first = submit(platform, user, body(device="cpu"), "key")
    with pytest.raises(Conflict, match=first.id):
        submit(platform, user, body(device="h200"), "key")
    platform.close()


def test_a_repeated_key_returns_a_submission_that_would_now_be_refused(
    platform: Platform, student: User
) -> None:
    first = submit(platform, student, body(), "key")
    (platform.catalogue.root / "challenges" / "scale" / "challenge.toml").unlink()
    assert submit(platform, student, body(), "key").id == first.id


@pytest.mark.parametrize(
    ("sent", "kept"),
    [("/home/ada/a.py", "a.py"), ("C:\\work\\a.py", "a.py"), ("a\n\x1b[31m.py", "a[31m.py")],
)
def test_only_the_name_of_a_path_is_kept(platform: Platform, student: User, sent: str, kept: str) -> None:
    assert submit(platform, student, body(filename=sent)).filename == kept


@pytest.mark.parametrize("dots", ["..", "a/..", ".", "..."])
def test_a_name_of_dots_is_replaced(platform: Platform, student: User, dots: str) -> None:
    sent = body(filename=dots, language="triton")
    assert submit(platform, student, sent).filename == "solution.py"


def test_cuda_goes_to_the_first_device_with_a_gpu(tmp_path: Path, redis_url: str) -> None:
    platform = open_platform(make_settings(tmp_path, redis_url, devices="cpu, h200"))
    from grader.service.accounts.accounts import create_user

    user = create_user(platform, "ada", "correct horse")
    assert submit(platform, user, body(filename="a.cu")).device == "h200"
    assert submit(platform, user, body(filename="a.py")).device == "cpu"
    assert submit(platform, user, body(filename="a.py", device="h200")).device == "h200"
    platform.close()


def test_a_repeated_key_returns_the_first_submission(platform: Platform, student: User, other: User) -> None:
    first = submit(platform, student, body(), "key")
    again = submit(platform, student, body(filename="renamed.py"), "key")
    assert again.id == first.id
    assert (_count(platform, student), platform.wakeups.waiting("run:cpu")) == (1, 1)
    assert submit(platform, other, body(), "key").id != first.id


def _at_once(count: int, act: object) -> list[object]:
    results: list[object] = []
    ready = threading.Barrier(count)

    def run(number: int) -> None:
        ready.wait()
        try:
            results.append(act(number))  # type: ignore[operator]
        except GraderError as error:
            results.append(error)

    threads = [threading.Thread(target=run, args=[number]) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_the_waiting_limit_cannot_be_raced(platform: Platform, student: User) -> None:
    count = limits.WAITING_PER_USER + 6
    results = _at_once(count, lambda _: submit(platform, student, body()))
    stored = [result for result in results if isinstance(result, SubmissionView)]
    assert len(stored) == limits.WAITING_PER_USER
    assert sum(isinstance(result, TooMany) for result in results) == 6
    assert _count(platform, student) == limits.WAITING_PER_USER
    cancel(platform, student, stored[0].id)
    assert submit(platform, student, body()).state is State.QUEUED


def test_a_second_store_under_a_key_returns_the_first(platform: Platform, student: User) -> None:
    order = SubmitOrder.of(body(), "same")
    first, second = (
        store(platform, student, row_of(platform, student, order), order, lambda *_: 7, reuse=False)
        for _ in range(2)
    )
    assert (first.new, first.reused, first.remaining) == (True, False, 7)
    assert second == StoredSubmission(first.public_id, new=False, reused=False)


def test_an_idempotency_key_cannot_be_raced(platform: Platform, student: User) -> None:
    results = _at_once(6, lambda _: submit(platform, student, body(), "same"))
    assert len({result.id for result in results if isinstance(result, SubmissionView)}) == 1
    assert _count(platform, student) == 1


def test_a_submission_is_stored_without_redis(tmp_path: Path) -> None:
    platform = open_platform(make_settings(tmp_path, f"unix://{tmp_path}/none.sock"))
    from grader.service.accounts.accounts import create_user

    user = create_user(platform, "ada", "correct horse")
    assert submit(platform, user, body()).state is State.QUEUED
    platform.close()
