"""`verify`: exit codes, work without a server, and requests with --online."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader import certificate
from tests.cli.conftest import Cli
from tests.cli.stub import Stub

SECRET = bytes(range(32))
KEY = certificate.public_key(SECRET)
SAID: dict[str, Any] = {
    "format": certificate.FORMAT,
    "competition": {"slug": "cup", "title": "The cup", "ends_at": "2026-01-01T00:00:00+00:00"},
    "team": {"name": "Warps", "members": ["ada"]},
    "result": {"rank": 1, "finalists": 3, "score": 12.0},
    "final": {"device": "h200", "machine": "GPU-1", "repeats": 5},
    "challenges": [
        {
            "challenge": "scale",
            "version": 1,
            "language": "triton",
            "submission": "abc123",
            "time_us": 12.0,
            "speedup": None,
            "points": 100.0,
            "failed": "",
            "source_sha256": "ab",
        }
    ],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(certificate.sign(SAID, SECRET)))
    return path


def test_a_genuine_certificate_is_confirmed(cli: Cli, file: Path, tmp_path: Path) -> None:
    pem = tmp_path / "key.pem"
    pem.write_text(certificate.pem(KEY))
    ran = cli("verify", str(file), "--key", str(pem))
    assert ran.code == 0
    assert "Warps: rank 1 of 3 finalists in The cup" in ran.out
    assert "Genuine" in ran.err


def test_a_repeat_without_a_time_is_named(cli: Cli, tmp_path: Path) -> None:
    said = copy.deepcopy(SAID)
    said["challenges"][0]["repeats"] = [{"repeat": 1, "time_us": 12.0}, {"repeat": 2, "time_us": None}]
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(certificate.sign(said, SECRET)))
    assert "the median of 1 of 2 repeats; no time was measured in 2" in cli("verify", str(path)).out


def test_an_unknown_key_is_not_confirmed(cli: Cli, file: Path) -> None:
    ran = cli("verify", str(file))
    assert ran.code == 3
    assert "--key" in ran.err


def test_a_changed_certificate_names_the_change(cli: Cli, file: Path) -> None:
    file.write_text(file.read_text().replace('"rank": 1', '"rank": 2'))
    ran = cli("verify", str(file), "--key", certificate.text_of(KEY), "--json")
    assert ran.code == 1
    assert json.loads(ran.out)["problems"] == ["result.rank was changed."]


FOREIGN = json.dumps(certificate.sign({"format": certificate.FORMAT, "team": "\x1b[2J"}, SECRET))


INFINITE = json.dumps(certificate.sign(SAID, SECRET)).replace('"score": 12.0', '"score": 1e400')
UNSIGNED = json.dumps({"certificate": SAID, "digests": {}, "signature": {"algorithm": "Ed25519"}})


@pytest.mark.parametrize("text", ["", "{}", FOREIGN, INFINITE, UNSIGNED])
def test_another_file_is_refused(cli: Cli, file: Path, text: str) -> None:
    file.write_text(text)
    assert cli("verify", str(file)).code == 2


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in steps:
        yield (*path, step)
        yield from _places(part, (*path, step))


# The file contains 1e400 and "\ud800" literally; Python's writer makes "Infinity" of the first.
ODD: tuple[Any, ...] = (None, [], {}, "", "\ud800", True, -1, 10**400, "1e400", [[]] * 2, {"a": 1})


@pytest.mark.parametrize("signed_again", [False, True])
def test_odd_values_are_no_failure_of_ours(cli: Cli, file: Path, signed_again: bool) -> None:
    """Any replaced part of a certificate, under any signature, gives one of verify's own answers."""
    whole = certificate.sign(SAID, SECRET)
    codes = set()
    for path in _places(SAID if signed_again else whole):
        for odd in ODD:
            changed = copy.deepcopy(SAID if signed_again else whole)
            at: Any = changed
            for step in path[:-1]:
                at = at[step]
            at[path[-1]] = odd
            text = json.dumps(certificate.sign(changed, SECRET) if signed_again else changed)
            file.write_text(text.replace('"1e400"', "1e400"))
            ran = cli("verify", str(file))
            assert ran.code in (1, 2, 3), (path, odd, ran.err)
            codes.add(ran.code)
    assert codes >= {2, 3 if signed_again else 1}


def test_deep_nesting_is_not_our_failure(cli: Cli, file: Path) -> None:
    text = file.read_text()
    for depth in (300, *range(800, 1000, 5), 20_000):
        file.write_text(text.replace('"cup"', "[" * depth + "]" * depth))
        assert cli("verify", str(file)).code in (1, 2), depth


@pytest.mark.parametrize("voided", [False, True])
def test_online_the_platform_confirms_or_reports_a_change(
    cli: Cli, server: Stub, file: Path, voided: bool
) -> None:
    server.answer(
        "GET /signing-key", {"algorithm": "Ed25519", "key": certificate.text_of(KEY), "id": "", "pem": ""}
    )
    now = copy.deepcopy(SAID)
    if voided:
        now["result"]["rank"] = None
        now["challenges"][0] |= {"time_us": None, "failed": "voided by the staff"}
    server.answer("GET /competitions/cup/teams/Warps/certificate", certificate.sign(now, SECRET))
    ran = cli("verify", str(file), "--online", "--json")
    found = json.loads(ran.out)
    changes = ["The rank is none now; the certificate says 1.", "scale: voided by the staff."]
    assert (ran.code, found["genuine"], found["stands"]) == (int(voided), True, not voided)
    assert found["changes"] == (changes if voided else [])


def test_online_a_withdrawn_certificate_is_refused(cli: Cli, server: Stub, file: Path) -> None:
    server.answer(
        "GET /signing-key", {"algorithm": "Ed25519", "key": certificate.text_of(KEY), "id": "", "pem": ""}
    )
    ran = cli("verify", str(file), "--online")
    assert ran.code == 1
    assert "The platform no longer gives this certificate" in ran.err
