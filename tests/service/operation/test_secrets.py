"""A secret is written whole or not at all."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from grader.settings import Settings


def test_simultaneous_creators_get_the_same_secret(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: settings.secret("web"), range(64)))
    assert len(found) == 1
    assert len(found.pop()) == 32
    assert [path.name for path in (tmp_path / "secrets").iterdir()] == ["web"]


def test_a_full_disk_leaves_no_empty_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, fdopen = Settings(data_dir=tmp_path), os.fdopen

    def full(*given: Any, **more: Any) -> Any:
        file = fdopen(*given, **more)
        file.close()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fdopen", full)
    with pytest.raises(OSError, match="No space"):
        settings.secret("web")
    monkeypatch.setattr(os, "fdopen", fdopen)
    assert len(settings.secret("web")) == 32
    assert (tmp_path / "secrets" / "web").stat().st_mode & 0o777 == 0o600
