"""Settings of accounts: valid combinations, and the errors for others."""

from __future__ import annotations

import pytest

from grader.cli.config import environment, load_settings
from grader.errors import BadRequest
from grader.oidc_settings import check_endpoint
from grader.settings import Settings

MAIL = {"GRADER_URL": "https://g.example", "GRADER_SMTP_HOST": "mail", "GRADER_SMTP_FROM": "g@g.example"}


BAD_MAIL_SERVERS = (
    *("mail:", "mail:0", "mail:65536", "mail:smtp", ":25", "::1", "[::1", "smtp://mail", "mail/25"),
    *("me@mail", "mail?x", "mail x", " mail"),
)


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        if name.startswith(("sign_up", "smtp", "url", "trusted")):
            monkeypatch.delenv(f"GRADER_{name.upper()}", raising=False)


@pytest.mark.parametrize(
    ("given", "policy"),
    [
        ({}, "closed"),
        ({"GRADER_SIGN_UP": "open"}, "open"),
        ({"GRADER_SIGN_UP": "invite"}, "invite"),
        ({"GRADER_SIGN_UP": "domain", "GRADER_SIGN_UP_DOMAINS": "uni.example", **MAIL}, "domain"),
    ],
)
def test_settings_choose_the_sign_up_policy(
    given: dict[str, str], policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    assert settings.sign_up == policy
    for name, value in environment(settings).items():
        monkeypatch.setenv(name, value)
    assert load_settings().sign_up == policy


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"GRADER_SIGN_UP": "everyone"}, "GRADER_SIGN_UP"),
        ({"GRADER_SIGN_UP": "domain", **MAIL}, "needs at least one"),
        ({"GRADER_SIGN_UP": "domain", "GRADER_SIGN_UP_DOMAINS": "uni.example"}, "GRADER_SMTP_HOST"),
        ({"GRADER_SIGN_UP": "domain", "GRADER_SIGN_UP_DOMAINS": "@uni.example", **MAIL}, "domains without @"),
        ({"GRADER_SMTP_HOST": "mail", "GRADER_SMTP_FROM": "g@g.example"}, "GRADER_URL"),
        (MAIL | {"GRADER_SMTP_FROM": ""}, "GRADER_SMTP_FROM"),
        (MAIL | {"GRADER_SMTP_SECURITY": "none", "GRADER_SMTP_USER": "g"}, "starttls or tls"),
        (MAIL | {"GRADER_SMTP_PORT": "465"}, "GRADER_SMTP_HOST=mail:465"),
        ({"GRADER_SMTP_PORT": "465"}, "GRADER_SMTP_HOST=mail.uni.edu:465"),
        *((MAIL | {"GRADER_SMTP_HOST": host}, "mail.uni.edu:465") for host in BAD_MAIL_SERVERS),
        ({"GRADER_URL": "grader.example"}, "https://"),
        ({"GRADER_TRUSTED_PROXIES": "proxy"}, "GRADER_TRUSTED_PROXIES"),
    ],
)
def test_inconsistent_settings_are_refused(
    given: dict[str, str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(BadRequest) as caught:
        load_settings()
    assert words in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize(
    ("given", "server"),
    [
        ("mail", ("mail", 587)),
        ("mail.uni.example:465", ("mail.uni.example", 465)),
        ("Mail.uni.example:25", ("mail.uni.example", 25)),
        ("10.0.0.7:2525", ("10.0.0.7", 2525)),
        ("[::1]", ("::1", 587)),
        ("[::1]:25", ("::1", 25)),
    ],
)
def test_the_mail_servers_port_is_written_after_its_host(
    given: str, server: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (MAIL | {"GRADER_SMTP_HOST": given}).items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    assert settings.mail_server == server
    for name, value in environment(settings).items():
        monkeypatch.setenv(name, value)
    assert load_settings().mail_server == server


def test_the_mail_password_is_not_shown() -> None:
    assert "hunter2" not in repr(Settings(smtp_password="hunter2"))


@pytest.mark.parametrize(
    "url", ["https://a.example;script-src *", "https://a.example, b", "https://a.example'", "https://*"]
)
def test_a_provider_url_that_would_alter_the_csp_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="host"):
        check_endpoint(url)
