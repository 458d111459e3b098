"""Limits on guessing and submitting, also with fifty threads at once."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import limits.storage.memory as storage
import pytest
from flask import Flask
from flask_limiter import RateLimitExceeded
from sqlalchemy import func, select

from grader import limits
from grader.errors import NotSignedIn
from grader.queue.embedded import start_redis
from grader.records.models import SubmissionRow
from grader.service.accounts import accounts, tokens
from grader.service.accounts.accounts import User
from grader.service.accounts.keys import new_key
from grader.service.accounts.links import LinkUseless
from grader.service.courses.joining import MAILED, PRINTED
from grader.service.platform import Platform, open_platform
from grader.settings import Settings
from grader.web import throttle
from grader.web.app import create_app
from grader.web.proxies import client_of
from tests.components import need
from tests.records.postgres import cluster, new_database
from tests.service.world import remove, short_folder
from tests.web import builders
from tests.web.conftest import Visit, csrf

pytestmark = pytest.mark.both_databases

API = "/api/v1"
# The validation would parse it twice.
_WITHIN_A_STRING = json.dumps(json.dumps({"name": "ada", "password": builders.PASSWORD})).encode()
AT_ONCE = 50
BODY = {"challenge": builders.SLUG, "source": builders.SOURCE, "filename": "add.py"}


def at_once(act: Callable[[int], int], count: int = AT_ONCE) -> Counter[int]:
    statuses: list[int] = []
    ready = threading.Barrier(count)

    def run(number: int) -> None:
        ready.wait()
        statuses.append(act(number))

    threads = [threading.Thread(target=run, args=[number]) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(statuses) == count
    return Counter(statuses)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Platform]:
    if request.param == "sqlite":
        platform = open_platform(builders.make_settings(tmp_path, waiting_per_user=1))
        yield platform
        platform.close()
        return
    need("postgres")
    with cluster() as url:
        url = new_database(url, "limits")
        platform = open_platform(builders.make_settings(tmp_path, waiting_per_user=1, database_url=url))
        yield platform
        platform.close()


class TestQuota:
    @pytest.fixture(autouse=True)
    def _unthrottled(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(throttle.limiter, "enabled", False)

    def test_one_of_fifty_simultaneous_posts_passes_a_quota_of_one(self, served: Platform) -> None:
        app = create_app(served)
        user = accounts.create_user(served, "ada", builders.PASSWORD)
        token = tokens.issue_token(served, user).token
        headers = {"Authorization": f"Bearer {token}"}
        statuses = at_once(
            lambda _: app.test_client().post(f"{API}/submissions", json=BODY, headers=headers).status_code
        )
        assert statuses == {201: 1, 429: AT_ONCE - 1}
        assert _stored(served) == 1

    def test_one_of_fifty_simultaneous_forms_passes_a_quota_of_one(self, served: Platform) -> None:
        app = create_app(served)
        accounts.create_user(served, "ada", builders.PASSWORD)
        client = app.test_client()
        client.post(
            "/sign-in", data={"name": "ada", "password": builders.PASSWORD, "csrf_token": csrf(client)}
        )
        token = csrf(client, "/account")
        kept = client.get_cookie("grader_session")

        def post(number: int) -> int:
            browser = app.test_client()
            assert kept
            browser.set_cookie("grader_session", kept.value)
            form = {
                "language": "triton",
                "source-triton": builders.SOURCE,
                "nonce": str(number),
                "csrf_token": token,
            }
            return browser.post(f"/challenges/{builders.SLUG}", data=form).status_code

        assert at_once(post) == {303: 1, 429: AT_ONCE - 1}
        assert _stored(served) == 1

    def test_fifty_requests_with_one_key_are_one_submission(
        self, served: Platform, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        app = create_app(served)
        user = accounts.create_user(served, "ada", builders.PASSWORD)
        headers = {
            "Authorization": f"Bearer {tokens.issue_token(served, user).token}",
            "Idempotency-Key": "once",
        }
        statuses = at_once(
            lambda _: app.test_client().post(f"{API}/submissions", json=BODY, headers=headers).status_code
        )
        assert statuses == {201: AT_ONCE}
        assert _stored(served) == 1


def _stored(platform: Platform) -> int:
    with platform.sessions() as session:
        return session.scalar(select(func.count()).select_from(SubmissionRow)) or 0


@pytest.fixture(params=["memory", "redis"])
def counted(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Flask]:
    if request.param == "memory":
        platform = open_platform(builders.make_settings(tmp_path))
        yield create_app(platform)
        platform.close()
        return
    folder = short_folder()
    with start_redis(Settings(data_dir=folder, redis_url="")) as server:
        platform = open_platform(builders.make_settings(tmp_path, redis_url=server.url))
        yield create_app(platform)
        platform.close()
    remove(folder)


def guess(app: Flask, name: str, address: str, password: str = "guess") -> int:
    return (
        app.test_client()
        .post(
            f"{API}/tokens",
            json={"name": name, "password": password},
            environ_base={"REMOTE_ADDR": address},
        )
        .status_code
    )


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._real = storage.time
        self.now = self._real.time()
        monkeypatch.setattr(storage, "time", self)

    def time(self) -> float:
        return self.now

    def __getattr__(self, name: str) -> object:
        return getattr(self._real, name)


def try_password(app: Flask, name: str, right: bool, address: str = "192.0.2.1") -> bool:
    with app.test_request_context(environ_base={"REMOTE_ADDR": address}):
        try:
            with throttle.password_try(name):
                if not right:
                    raise NotSignedIn("wrong")
        except NotSignedIn:
            return True
        except RateLimitExceeded:
            return False
    return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture
def bare() -> Flask:
    app = Flask(__name__)
    app.config.update(SECRET_KEY="x", RATELIMIT_STORAGE_URI="memory://")
    throttle.limiter.init_app(app)
    return app


class TestClass:
    """A class in one room has one address."""

    def test_a_class_signs_in_while_a_neighbour_guesses(self, bare: Flask, clock: Clock) -> None:
        checked, signed_in = 0, []
        for number in range(1_500):  # the same 50 accounts again and again
            clock.now += 60 / 1_500
            checked += try_password(bare, f"user{number % 50}", right=False)
            if number % 10 == 0:
                signed_in.append(try_password(bare, f"student{number}", right=True))
        assert signed_in == [True] * 150
        assert checked == limits.WRONG_PASSWORDS_PER_MINUTE

    def test_guesses_are_limited_by_the_hour(self, bare: Flask, clock: Clock) -> None:
        checked = []
        for number in range(1_000):
            clock.now += 3
            checked.append(try_password(bare, f"user{number % 300}", right=False))
        # One at each account, and no more: those count for the address, too.
        assert sum(checked) == 300
        clock.now += 3600
        assert try_password(bare, "user0", right=False)

    def test_a_mistyped_password_can_be_repeated_in_a_class(self, bare: Flask) -> None:
        for number in range(0, 150, 5):
            assert try_password(bare, f"student{number}", right=False)
            assert try_password(bare, f"student{number}", right=True)

    def test_right_passwords_are_not_counted(self, counted: Flask) -> None:
        assert all(
            try_password(counted, name, right=True)
            for name in ["ada"] * 50 + [f"student{n}" for n in range(150)]
        )

    def test_join_codes_and_device_codes_are_limited(self, app: Flask, platform: Platform) -> None:
        code = "ABC-DEF-GHJ"
        with app.test_request_context(environ_base={"REMOTE_ADDR": "192.0.2.1"}):
            for _ in range(4 * 150):  # its page, the account's page, the account, joining
                with throttle.join_code(code):
                    pass
            for _ in range(limits.WRONG_JOIN_CODES_PER_MINUTE):
                with pytest.raises(LinkUseless), throttle.join_code(code):
                    raise LinkUseless
            with pytest.raises(RateLimitExceeded), throttle.join_code(code):
                pass
            # Personal links cannot be guessed, and the account form has no code.
            for key in (new_key(PRINTED), new_key(MAILED), ""):
                with throttle.join_code(key):
                    pass
        client = app.test_client()
        codes = {client.post(f"{API}/device-codes", json={}).status_code for _ in range(150)}
        assert codes == {201}

    def test_password_hashing_routes_are_the_queued_ones(self, app: Flask) -> None:
        for rule in app.url_map.iter_rules():
            hashes = rule.endpoint in {
                "sign_in.submit",
                "sign_up.submit",
                "api_tokens.create_token",
            }
            methods = {method for method in rule.methods or () if throttle.hashes_password(method, rule.rule)}
            assert methods == ({"POST"} if hashes and "POST" in (rule.methods or ()) else set())


class TestGuessing:
    def test_simultaneous_guesses_from_one_address_are_limited(
        self, counted: Flask, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(limits, "WRONG_PASSWORDS_PER_MINUTE", 15)
        for number in range(5):  # tries that each account gets regardless of the others
            assert guess(counted, f"user{number}", "192.0.2.1") == 401
        statuses = at_once(lambda number: guess(counted, f"user{number % 5}", "192.0.2.1"))
        assert statuses == {401: 10, 429: AT_ONCE - 10}

    def test_guesses_from_many_addresses_at_one_account_are_limited(self, counted: Flask) -> None:
        most = limits.SIGN_IN_PER_ACCOUNT
        statuses = at_once(lambda number: guess(counted, "ada", f"192.0.2.{number}"))
        assert statuses == {401: most, 429: AT_ONCE - most}
        assert guess(counted, "ADA", "192.0.2.200") == 429  # whatever the case
        assert guess(counted, "bob", "192.0.2.200") == 401  # and nobody else's

    def test_a_limited_account_refuses_the_right_password(self, app: Flask, ada: User) -> None:
        for number in range(limits.SIGN_IN_PER_ACCOUNT):
            assert guess(app, "ada", f"192.0.2.{number}") == 401
        assert guess(app, "ada", "192.0.2.200", builders.PASSWORD) == 429
        client = app.test_client()
        form = {"name": " ada ", "password": builders.PASSWORD, "csrf_token": csrf(client)}
        assert client.post("/sign-in", data=form).status_code == 429

    def test_answers_do_not_reveal_existing_names(self, app: Flask, ada: User) -> None:
        client = app.test_client()
        told = {
            client.post(f"{API}/tokens", json={"name": name, "password": "guess"}).text
            for name in ("ada", "nobody", "ADA", "a" * 64)
        }
        assert len(told) == 1

    def test_known_and_unknown_names_cost_one_password_check(
        self, app: Flask, ada: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        checked: list[str] = []
        matches = accounts._matches
        monkeypatch.setattr(
            accounts, "_matches", lambda hashed, word: checked.append(hashed[:10]) or matches(hashed, word)
        )
        for name in ("ada", "nobody"):
            guess(app, name, "192.0.2.1")
        assert len(checked) == 2
        assert checked[0] == checked[1]  # of one kind

    @pytest.mark.parametrize(
        "body", [b"[]", b'"x"', b"null", b"{", b'{"name": {"a": 1}}', b"\xff", _WITHIN_A_STRING]
    )
    def test_malformed_bodies_check_no_password_and_are_not_counted(
        self, app: Flask, ada: User, body: bytes
    ) -> None:
        client = app.test_client()
        statuses = {
            client.post(f"{API}/tokens", data=body, content_type="application/json").status_code
            for _ in range(limits.SIGN_IN_PER_ADDRESS_AND_ACCOUNT + 1)
        }
        assert statuses == {400}
        assert guess(app, "ada", "127.0.0.1", builders.PASSWORD) == 201

    def test_an_ipv6_prefix_counts_as_one_address(self, app: Flask) -> None:
        statuses = Counter(guess(app, "user", f"2001:db8:1:2:{n:x}::{n:x}") for n in range(AT_ONCE))
        most = limits.SIGN_IN_PER_ADDRESS_AND_ACCOUNT
        assert statuses == {401: most, 429: AT_ONCE - most}
        assert guess(app, "user", "2001:db8:1:3::1") == 401

    @pytest.mark.parametrize(
        ("address", "client"),
        [
            ("192.0.2.7", "192.0.2.7"),
            ("192.0.2.7:4711", "192.0.2.7"),  # as some proxies write it, a new port each time
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("[2001:db8:1:2:3::4]:443", "2001:db8:1:2::/64"),
            ("fe80::1%eth0", "fe80::/64"),
            ("nonsense", "unknown"),
            (None, "unknown"),
        ],
    )
    def test_addresses_are_grouped_into_clients(self, address: str | None, client: str) -> None:
        assert client_of(address) == client

    def test_behind_a_proxy_clients_are_counted_separately(self, tmp_path: Path) -> None:
        platform = open_platform(builders.make_settings(tmp_path, trusted_proxies="10.0.0.5"))
        client = create_app(platform).test_client()

        def ask(forwarded: str) -> int:
            return client.post(
                f"{API}/tokens",
                json={"name": "nobody", "password": "guess"},
                headers={"X-Forwarded-For": forwarded},
                environ_base={"REMOTE_ADDR": "10.0.0.5"},
            ).status_code

        # The client's own values are to the left of its address.
        most = limits.SIGN_IN_PER_ADDRESS_AND_ACCOUNT
        statuses = [ask(f"198.51.100.{n}, 203.0.113.9") for n in range(most + 1)]
        assert statuses == [401] * most + [429]
        assert ask("203.0.113.10") == 401
        platform.close()

    @pytest.mark.parametrize("form", ["password", "email"])
    def test_a_stolen_session_cannot_evade_the_guess_limit(
        self, app: Flask, visit: Visit, ada: User, form: str
    ) -> None:
        client = visit(ada)
        token = csrf(client, "/account")
        statuses = [
            client.post(
                f"/account/{form}?name=yy{number}",
                data={"present": "guess", "new": "a new one", "name": f"zz{number}", "csrf_token": token},
                environ_base={"REMOTE_ADDR": f"192.0.2.{number}"},
            ).status_code
            for number in range(AT_ONCE)
        ]
        most = limits.SIGN_IN_PER_ADDRESS_AND_ACCOUNT
        assert statuses == [403] * most + [429] * (AT_ONCE - most)

    def test_new_accounts_are_limited_by_address_for_signed_in_users_too(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Otherwise each new account could create as many more."""
        monkeypatch.setattr(limits, "SIGN_UPS_PER_MINUTE", 3)
        platform = open_platform(builders.make_settings(tmp_path, sign_up="open"))
        app = create_app(platform)

        def make(number: int) -> int:
            accounts.create_user(platform, f"maker{number}", builders.PASSWORD)
            client = app.test_client()
            form = {"name": f"maker{number}", "password": builders.PASSWORD}
            form["csrf_token"] = csrf(client, "/sign-in")
            assert client.post("/sign-in", data=form).status_code == 303
            form = {"name": f"user{number}", "password": builders.PASSWORD}
            form["csrf_token"] = csrf(client, "/sign-up")
            return client.post("/sign-up", data=form).status_code

        statuses = [make(number) for number in range(4)]
        assert statuses == [303, 303, 303, 429]
        platform.close()

    def test_device_code_guesses_are_counted_in_any_request_field(self, visit: Visit, ada: User) -> None:
        client = visit(ada)
        form = {"code": "WDJB-MJHT", "answer": "approve", "csrf_token": csrf(client, "/account")}
        statuses = [
            client.post("/device?code=", data=form).status_code
            for _ in range(limits.DEVICE_GUESSES_PER_MINUTE + 1)
        ]
        assert statuses == [404] * limits.DEVICE_GUESSES_PER_MINUTE + [429]
        assert client.get("/device?code=WDJB-MJHT").status_code == 429
        assert client.get("/device").status_code == 200

    def test_wrong_tokens_are_counted(self, app: Flask, platform: Platform, ada: User) -> None:
        right = tokens.issue_token(platform, ada).token
        client = app.test_client()

        def show(token: str) -> int:
            return client.get(f"{API}/me", headers={"Authorization": f"Bearer {token}"}).status_code

        nowhere = client.get(f"{API}/nowhere", headers={"Authorization": "Bearer grd_x"})
        assert nowhere.status_code == 401
        for number in range(limits.BAD_TOKENS_PER_MINUTE - 1):
            assert show(f"grd_{number}") == 401
        assert show("grd_another") == 429
        assert show(right) == 200  # a neighbour's old program locks nobody out
        assert client.get(f"{API}/challenges").status_code == 200

    def test_right_tokens_are_not_counted(self, app: Flask, platform: Platform, ada: User) -> None:
        headers = {"Authorization": f"Bearer {tokens.issue_token(platform, ada).token}"}
        client = app.test_client()
        for _ in range(limits.BAD_TOKENS_PER_MINUTE + 5):
            assert client.get(f"{API}/me", headers=headers).status_code == 200
