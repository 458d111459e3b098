"""`verify`: its exit codes, and that it needs no server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grader import certificate
from tests.cli.conftest import Cli

SECRET = bytes(range(32))
KEY = certificate.public_key(SECRET)
SAID: dict[str, Any] = {
    "format": certificate.FORMAT,
    "competition": {"slug": "cup", "title": "The cup", "ends_at": "2026-01-01T00:00:00+00:00"},
    "team": {"name": "Warps", "members": ["ada"]},
    "result": {"rank": 1, "finalists": 3},
    "final": {"device": "h200", "machine": "GPU-1", "repeats": 5},
    "challenges": [
        {"challenge": "scale", "version": 1, "language": "triton", "time_us": 12.0, "source_sha256": "ab"}
    ],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(certificate.sign(SAID, SECRET)))
    return path


def test_genuine(cli: Cli, file: Path, tmp_path: Path) -> None:
    pem = tmp_path / "key.pem"
    pem.write_text(certificate.pem(KEY))
    ran = cli("verify", str(file), "--key", str(pem))
    assert ran.code == 0
    assert "Warps: rank 1 of 3 finalists in The cup" in ran.out
    assert "Genuine" in ran.err


def test_by_an_unknown_key(cli: Cli, file: Path) -> None:
    ran = cli("verify", str(file))
    assert ran.code == 3
    assert "--key" in ran.err


def test_changed(cli: Cli, file: Path) -> None:
    file.write_text(file.read_text().replace('"rank": 1', '"rank": 2'))
    ran = cli("verify", str(file), "--key", certificate.text_of(KEY), "--json")
    assert ran.code == 1
    assert json.loads(ran.out)["problems"] == ["result.rank was changed."]


@pytest.mark.parametrize("text", ["", "{}"])
def test_no_certificate(cli: Cli, file: Path, text: str) -> None:
    file.write_text(text)
    assert cli("verify", str(file)).code == 2
