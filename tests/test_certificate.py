"""Certificates: every change is found and named."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from grader import certificate
from grader.errors import BadRequest

SECRET, OTHER = bytes(range(32)), bytes(32)
KEY = certificate.public_key(SECRET)
SAID: dict[str, Any] = {
    "format": certificate.FORMAT,
    "team": {"name": "Ümläut & Co", "members": ["ada", "bob"]},
    "result": {"rank": 1, "score": 12.500000000000002},
    "challenges": [{"time_us": 1e-7, "repeats": [{"environment": {}, "a.b": None}]}],
}


def _signed() -> dict[str, Any]:
    return copy.deepcopy(certificate.sign(SAID, SECRET))


def _problems(whole: dict[str, Any], key: bytes | None = KEY) -> list[str]:
    return list(certificate.check(json.dumps(whole), key).problems)


def test_a_certificate_is_genuine_in_any_json_layout() -> None:
    for text in (
        json.dumps(_signed()),
        json.dumps(_signed(), indent=3, sort_keys=True),
        json.dumps(_signed(), ensure_ascii=False),
    ):
        found = certificate.check(text, KEY)
        assert (found.genuine, found.key_known, found.problems) == (True, True, ())


def test_without_a_key_a_certificate_is_only_intact() -> None:
    found = certificate.check(json.dumps(_signed()))
    assert (found.genuine, found.key_known, found.problems) == (False, False, ())


def _changes() -> list[tuple[str, Any]]:
    def set_(*path: Any, to: Any) -> Any:
        def change(whole: dict[str, Any]) -> None:
            at = whole["certificate"]
            for step in path[:-1]:
                at = at[step]
            at[path[-1]] = to

        return change

    return [
        ("result.rank was changed.", set_("result", "rank", to=2)),
        # Equal in Python, but not for readers.
        ("result.rank was changed.", set_("result", "rank", to=True)),
        ("result.rank was changed.", set_("result", "rank", to=1.0)),
        ("result.score was changed.", set_("result", "score", to=12.5)),
        ("team.members[1] was changed.", set_("team", "members", 1, to="eve")),
        ('challenges[0].repeats[0]."a.b" was changed.', set_("challenges", 0, "repeats", 0, "a.b", to=0)),
        ("result.prize was added.", set_("result", "prize", to="all of it")),
        ("team.members[0] was removed.", lambda whole: whole["certificate"]["team"].update(members=[])),
        (
            "challenges[0].time_us was removed.",
            lambda whole: whole["certificate"]["challenges"][0].pop("time_us"),
        ),
    ]


@pytest.mark.parametrize(("problem", "change"), _changes())
def test_a_changed_field_is_named(problem: str, change: Any) -> None:
    whole = _signed()
    change(whole)
    assert problem in _problems(whole)


def test_recomputed_digests_do_not_match_the_signature() -> None:
    whole = _signed()
    whole["certificate"]["result"]["rank"] = 2
    whole["digests"] = certificate.digests_of(whole["certificate"])
    assert _problems(whole) == ["The signature does not match: the digests or the signature were changed."]


def test_another_signing_key_is_named() -> None:
    forged = certificate.sign({**SAID, "result": {"rank": 2}}, OTHER)
    assert certificate.check(json.dumps(forged)).problems == (), "anybody can make a key"
    (problem,) = _problems(forged)
    assert certificate.key_id(KEY) in problem
    # Naming the platform's key next to another signature does not help.
    forged["signature"]["key"] = certificate.text_of(KEY)
    assert _problems(forged) == ["The signature does not match: the digests or the signature were changed."]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"certificate": {}, "digests": {}, "signature": {}}',
        json.dumps({**certificate.sign(SAID, SECRET), "more": 1}),
        json.dumps(certificate.sign({**SAID, "format": "grader certificate 2"}, SECRET)),
        json.dumps(certificate.sign(SAID, SECRET)).replace('"rank": 1', '"rank": 2, "rank": 1'),
        json.dumps(certificate.sign(SAID, SECRET)).replace('"rank": 1', '"rank": NaN'),
        "[" * 100_000,
    ],
)
def test_another_file_is_refused(text: str) -> None:
    with pytest.raises(BadRequest):
        certificate.check(text, KEY)


def test_keys_are_read_in_every_form() -> None:
    forms = (
        certificate.pem(KEY),
        KEY.hex(),
        certificate.text_of(KEY),
        json.dumps({"key": certificate.text_of(KEY)}),
    )
    assert {certificate.read_key(form) for form in forms} == {KEY}
    for bad in (
        "",
        "not a key",
        KEY.hex()[:-2],
        "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----",
        "{}",
    ):
        with pytest.raises(BadRequest):
            certificate.read_key(bad)
